// The demo's options, from flags or the environment: how long, which seed, which ports. Which cluster to
// join comes from a flag alone: a kubeconfig that happens to be in somebody's environment is no consent
// to write into that cluster.

import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { parseDuration, readArguments, refusalText, text } from '@bigfleet/process/flags';
import { defaultPorts, type PortName, portNames, type Ports, portVariable } from './places.ts';

export interface DemoOptions {
  /** Undefined: until Ctrl-C. */
  readonly forMs: number | undefined;
  readonly seed: string;
  readonly ports: Ports;
  /** Files of a real cluster that joins, as `$KUBECONFIG` lists them; undefined: none does. */
  readonly kubeconfig: string | undefined;
}

export type ParsedOptions =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly problem: string };

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SEED = '12648430';
const MAX_FOR_MS = 3_600_000;
const MAX_PORT = 65_535;

export const usage: string = `usage: make up [FOR=30s] [SEED=n] [KUBECONFIG=file] ${portNames
  .map((name) => `[${portVariable(name)}=${defaultPorts[name]}]`)
  .join(' ')}`;

const flags = Object.fromEntries(
  ['for', 'seed', 'kubeconfig', ...portNames.map((name) => `${name}-port`)].map((name) => [
    name,
    text('', ''),
  ]),
);

export function parseOptions(args: readonly string[], env: Environment): ParsedOptions {
  const read = readArguments(flags, args, { isLastCounted: true });
  if (!read.ok) return { ok: false, problem: refusalText(read.error) };
  const given = [...read.value.texts].map(([name, texts]) => [name, texts.at(-1)] as const);
  return check(Object.fromEntries(given), env);
}

function check(
  values: Readonly<Record<string, string | undefined>>,
  env: Environment,
): ParsedOptions {
  const duration = values['for'] ?? env['FOR'];
  const parsed = duration === undefined ? undefined : parseDuration(duration);
  const forMs = parsed?.ok === true ? parsed.value : undefined;
  if (parsed !== undefined && (forMs === undefined || forMs < 1 || forMs > MAX_FOR_MS)) {
    return { ok: false, problem: `FOR=${duration}: say 30s or 2m, at most 60m` };
  }
  const seed = values['seed'] ?? env['SEED'] ?? DEFAULT_SEED;
  if (!/^[\w.-]{1,64}$/.test(seed)) {
    return { ok: false, problem: `SEED=${seed}: letters, digits, dot, dash; at most 64` };
  }
  const ports = { ...defaultPorts };
  for (const name of portNames) {
    const text = values[`${name}-port`] ?? env[portVariable(name)];
    if (text === undefined) continue;
    const port = Number(text);
    if (!Number.isInteger(port) || port < 1 || port > MAX_PORT) {
      return { ok: false, problem: `${portVariable(name)}=${text}: a port from 1 to ${MAX_PORT}` };
    }
    ports[name] = port;
  }
  const twice = sharedPort(ports);
  if (twice !== undefined) return { ok: false, problem: `port ${twice} is given twice` };
  const { kubeconfig } = values;
  const unreadable = kubeconfig === undefined ? undefined : unreadableOf(kubeconfig);
  if (unreadable !== undefined) {
    return { ok: false, problem: `KUBECONFIG=${kubeconfig}: ${unreadable} cannot be read` };
  }
  return { ok: true, options: { forMs, seed, ports, kubeconfig } };
}

/** The first file of the list that is not there; the whole list when it names none. */
function unreadableOf(kubeconfig: string): string | undefined {
  const files = kubeconfig.split(path.delimiter).filter((file) => file !== '');
  if (files.length === 0) return 'an empty list';
  return files.find((file) => {
    try {
      accessSync(file, constants.R_OK);
      return false;
    } catch {
      return true;
    }
  });
}

function sharedPort(ports: Readonly<Record<PortName, number>>): number | undefined {
  const used = portNames.map((name) => ports[name]);
  return used.find((port, at) => used.indexOf(port) !== at);
}

// The demo's options, from flags or the environment: how long, which seed, which ports.

import { parseDuration, readArguments, refusalText, text } from '@bigfleet/process/flags';
import { defaultPorts, type PortName, portNames, type Ports, portVariable } from './places.ts';

export interface DemoOptions {
  /** Undefined: until Ctrl-C. */
  readonly forMs: number | undefined;
  readonly seed: string;
  readonly ports: Ports;
}

export type ParsedOptions =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly problem: string };

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SEED = '12648430';
const MAX_FOR_MS = 3_600_000;
const MAX_PORT = 65_535;

export const usage: string = `usage: make up [FOR=30s] [SEED=n] ${portNames
  .map((name) => `[${portVariable(name)}=${defaultPorts[name]}]`)
  .join(' ')}`;

const flags = Object.fromEntries(
  ['for', 'seed', ...portNames.map((name) => `${name}-port`)].map((name) => [name, text('', '')]),
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
  return twice === undefined
    ? { ok: true, options: { forMs, seed, ports } }
    : { ok: false, problem: `port ${twice} is given twice` };
}

function sharedPort(ports: Readonly<Record<PortName, number>>): number | undefined {
  const used = portNames.map((name) => ports[name]);
  return used.find((port, at) => used.indexOf(port) !== at);
}

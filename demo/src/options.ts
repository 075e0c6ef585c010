// The demo's options, from flags or the environment: how long, which seed, which ports.

import { parseArgs } from 'node:util';
import { defaultPorts, type PortName, portNames, type Ports, portVariable } from './ports.ts';

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
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

export const usage: string = `usage: make up [FOR=30s] [SEED=n] ${portNames
  .map((name) => `[${portVariable(name)}=${defaultPorts[name]}]`)
  .join(' ')}`;

export function parseOptions(args: readonly string[], env: Environment): ParsedOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: Object.fromEntries(
        ['for', 'seed', ...portNames.map((name) => `${name}-port`)].map((name) => [
          name,
          { type: 'string' as const },
        ]),
      ),
    });
    return check(values, env);
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function check(
  values: Readonly<Record<string, string | undefined>>,
  env: Environment,
): ParsedOptions {
  const duration = values['for'] ?? env['FOR'];
  const forMs = duration === undefined ? undefined : parseDurationMs(duration);
  if (duration !== undefined && (forMs === undefined || forMs < 1 || forMs > MAX_FOR_MS)) {
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

function parseDurationMs(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const perUnit = unitMs[unit ?? ''];
  return perUnit === undefined ? undefined : Number(amount) * perUnit;
}

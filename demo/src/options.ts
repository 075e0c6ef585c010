// The demo's options, from flags or the environment: how long, and which seed.

import { parseArgs } from 'node:util';

export interface DemoOptions {
  readonly wallMs: number;
  readonly seed: string;
}

export type ParsedOptions =
  | { readonly ok: true; readonly options: DemoOptions }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_FOR = '10s';
const DEFAULT_SEED = '12648430';
const MAX_WALL_MS = 600_000;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

export function parseOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { for: { type: 'string' }, seed: { type: 'string' } },
    });
    return check(
      values.for ?? env['FOR'] ?? DEFAULT_FOR,
      values.seed ?? env['SEED'] ?? DEFAULT_SEED,
    );
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function check(duration: string, seed: string): ParsedOptions {
  const wallMs = parseDurationMs(duration);
  if (wallMs === undefined || wallMs < 1 || wallMs > MAX_WALL_MS) {
    return { ok: false, problem: `FOR=${duration}: say 500ms, 30s or 2m, at most 10m` };
  }
  if (!/^[\w.-]{1,64}$/.test(seed)) {
    return { ok: false, problem: `SEED=${seed}: letters, digits, dot, dash; at most 64` };
  }
  return { ok: true, options: { wallMs, seed } };
}

function parseDurationMs(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  const perUnit = unitMs[unit ?? ''];
  return perUnit === undefined ? undefined : Number(amount) * perUnit;
}

// The flags of the fake's process. The names are those of every provider (provider-contract
// §17.1); what only the fake can do has names of its own. Anything it does not know is refused.

import { parseArgs } from 'node:util';
import { err, ok, type Result } from '@bigfleet/base';

export interface FakeFlags {
  readonly addr: string;
  readonly provider: string;
  readonly seedCount: number;
  readonly instant: boolean;
  readonly latencyMs: number;
  readonly createLatencyMs: number | undefined;
  readonly isFixedCapacity: boolean;
  readonly strictTokens: boolean;
  readonly reflection: boolean;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
}

export const USAGE: string = [
  'usage: fake-main [flags]   a capacity provider in memory, for tests only',
  '  --addr host:port|:port|unix:/path  where to listen (default :9000; port 0 picks one)',
  '  --provider name      label of hosts and prefix of ids (default fake)',
  '  --seed-count n       speculative slots, a third of them spot (default 256)',
  '  --staged             asynchronous transitions (the default)',
  '  --instant            every transition lands in its stable state at once',
  '  --latency 20ms       how long a staged transition takes',
  '  --create-latency 2s  how long a Create dwells in Creating, instead of --latency',
  '  --fixed-capacity     Delete is unimplemented, as for bare metal',
  '  --strict-tokens      refuse fencing tokens with a negative epoch or sequence',
  '  --reflection         server reflection (default on; --no-reflection)',
  '  --tls-cert, --tls-key, --tls-ca  mTLS, all three or none',
  '  --use-fake-backend   accepted: there is no other',
].join('\n');

const MAX_SEED_COUNT = 1_000_000;
const MAX_LATENCY_MS = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

export function parseFakeFlags(args: readonly string[]): Result<FakeFlags, string> {
  try {
    return check(parse(args));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

type Values = ReturnType<typeof parse>;

function parse(args: readonly string[]) {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
  const flag = (fallback: boolean) => ({ type: 'boolean', default: fallback }) as const;
  return parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      addr: text(':9000'),
      provider: text('fake'),
      'seed-count': text('256'),
      staged: flag(false),
      instant: flag(false),
      latency: text('20ms'),
      'create-latency': text(''),
      'fixed-capacity': flag(false),
      'strict-tokens': flag(false),
      reflection: flag(true),
      'tls-cert': text(''),
      'tls-key': text(''),
      'tls-ca': text(''),
      'use-fake-backend': flag(false),
    },
  }).values;
}

function check(values: Values): Result<FakeFlags, string> {
  const seedCount = Number(values['seed-count']);
  if (!Number.isInteger(seedCount) || seedCount < 0 || seedCount > MAX_SEED_COUNT) {
    return err(`--seed-count: a whole number from 0 to ${MAX_SEED_COUNT}`);
  }
  if (values.staged && values.instant) return err('--staged and --instant exclude each other');
  const latencyMs = parseDuration(values.latency);
  if (latencyMs === undefined) return err('--latency: write for example 20ms, 2s or 1m');
  const dwell = values['create-latency'];
  const createLatencyMs = dwell === '' ? undefined : parseDuration(dwell);
  if (dwell !== '' && createLatencyMs === undefined) {
    return err('--create-latency: write for example 20ms, 2s or 1m');
  }
  return ok({
    addr: values.addr,
    provider: values.provider,
    seedCount,
    instant: values.instant,
    latencyMs,
    createLatencyMs,
    isFixedCapacity: values['fixed-capacity'],
    strictTokens: values['strict-tokens'],
    reflection: values.reflection,
    tls: { cert: values['tls-cert'], key: values['tls-key'], ca: values['tls-ca'] },
  });
}

function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m)$/.exec(text);
  const ms = Number(match?.[1]) * (unitMs[match?.[2] ?? ''] ?? Number.NaN);
  return ms <= MAX_LATENCY_MS ? ms : undefined;
}

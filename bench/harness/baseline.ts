// The committed expectation, in perK so that it means something on another machine. Comparing
// with it informs; only --fail-on-regression makes it a gate. It names the kernel it was measured
// with: numbers in units of another K are not comparable and are refused.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { GOLDEN_CHECKSUM } from '../kernel/k.ts';
import type { Machine, PerK, Result, Results } from './results.ts';

export interface Baseline {
  readonly kernel: string;
  readonly machine: Machine | null;
  readonly revision: string;
  readonly perK: Readonly<Record<string, PerK>>;
}

/** Ratios to the baseline; above 1 is slower. */
export interface AgainstBaseline {
  readonly p50: number;
  readonly p99: number;
}

const KERNEL = GOLDEN_CHECKSUM.toString(16);
const EMPTY: Baseline = { kernel: KERNEL, machine: null, revision: '', perK: {} };

export function readBaseline(path: string): Baseline {
  if (!existsSync(path)) return EMPTY;
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isBaseline(value)) throw new Error(`${path} is not a bench baseline`);
  if (value.kernel !== KERNEL) {
    throw new Error(`${path} was measured with kernel ${value.kernel}, this is ${KERNEL}`);
  }
  return value;
}

export function againstBaseline(result: Result, baseline: Baseline): AgainstBaseline | undefined {
  if (!Object.hasOwn(baseline.perK, result.name)) return undefined;
  const expected = baseline.perK[result.name];
  if (expected === undefined) return undefined;
  return { p50: result.perK.p50 / expected.p50, p99: result.perK.p99 / expected.p99 };
}

/** On p50 only: a p99 of a shared machine is too restless to gate on. */
export function regressions(
  results: readonly Result[],
  baseline: Baseline,
  factor: number,
): readonly string[] {
  return results.flatMap((result) => {
    const against = againstBaseline(result, baseline);
    if (against === undefined || against.p50 <= factor) return [];
    return [`${result.name}: p50 is ${against.p50.toFixed(2)} × baseline, limit ${factor}`];
  });
}

/** Replaces the rows that this run measured steadily; every other row stays. */
export function updatedBaseline(baseline: Baseline, run: Results): Baseline {
  const rows = new Map(Object.entries(baseline.perK));
  for (const result of run.results) {
    if (result.extra['noisy'] !== true) rows.set(result.name, roundPerK(result.perK));
  }
  const sorted = [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    kernel: KERNEL,
    machine: run.machine,
    revision: run.revision,
    perK: Object.fromEntries(sorted),
  };
}

export function writeBaseline(path: string, baseline: Baseline): void {
  writeFileSync(path, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Four digits: more is noise, and a diff full of noise is not read. */
function roundPerK({ p50, p95, p99 }: PerK): PerK {
  const round = (value: number): number => Number(value.toPrecision(4));
  return { p50: round(p50), p95: round(p95), p99: round(p99) };
}

function isBaseline(value: unknown): value is Baseline {
  if (typeof value !== 'object' || value === null) return false;
  if (!('kernel' in value) || typeof value.kernel !== 'string') return false;
  if (!('perK' in value) || typeof value.perK !== 'object' || value.perK === null) return false;
  return Object.values(value.perK).every(isPerK);
}

function isPerK(value: unknown): value is PerK {
  if (typeof value !== 'object' || value === null) return false;
  return ['p50', 'p95', 'p99'].every((key) => {
    const number: unknown = new Map(Object.entries(value)).get(key);
    return typeof number === 'number' && number > 0;
  });
}

// A results document for the tests of everything that reads one.

import type { Extra } from './define-bench.ts';
import type { Result, Results } from './results.ts';

export function exampleResult(name: string, parts: Partial<Result> = {}): Result {
  const extra: Extra = {};
  return {
    name,
    shape: { machines: 500_000 },
    iterations: 1_000,
    p50Ms: 4,
    p95Ms: 5,
    p99Ms: 6,
    maxMs: 9,
    perK: { p50: 8, p95: 10, p99: 12 },
    allocBytesPerOp: 1_024,
    rssBytes: 100 * 2 ** 20,
    samplesFile: `samples/${name}.f64`,
    extra,
    ...parts,
  };
}

export function exampleResults(results: readonly Result[]): Results {
  return {
    machine: { cpu: 'Example 9000', cores: 2, memoryGiB: 24, node: 'v24.0.0' },
    revision: '0123abc',
    calibrationMs: 0.5,
    noisy: results.some((result) => result.extra['noisy'] === true),
    results,
  };
}

// Exact quantiles of raw samples: nearest rank on the sorted values, so that every reported number
// is one that was measured. This is what gates read; interpolation would invent a value.

import { assert } from '@bigfleet/base';

export interface SampleSummary {
  readonly count: number;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
  readonly p95Seconds: number;
  readonly p99Seconds: number;
  readonly p999Seconds: number;
  readonly maxSeconds: number;
  readonly sumSeconds: number;
}

/** Undefined without samples: an empty window has no p99. Leaves `seconds` as it is. */
export function summarise(seconds: Float64Array): SampleSummary | undefined {
  const count = seconds.length;
  if (count === 0) return undefined;
  const sorted = seconds.toSorted();
  return {
    count,
    p50Seconds: nearestRank(sorted, 500),
    p90Seconds: nearestRank(sorted, 900),
    p95Seconds: nearestRank(sorted, 950),
    p99Seconds: nearestRank(sorted, 990),
    p999Seconds: nearestRank(sorted, 999),
    maxSeconds: nearestRank(sorted, 1_000),
    sumSeconds: sorted.reduce((sum, value) => sum + value, 0),
  };
}

/** The smallest value that at least `perMille` of all values do not exceed. */
function nearestRank(sorted: Float64Array, perMille: number): number {
  const rank = Math.max(1, Math.ceil((sorted.length * perMille) / 1_000));
  const value = sorted[rank - 1];
  assert(value !== undefined, 'a rank lies inside the samples');
  return value;
}

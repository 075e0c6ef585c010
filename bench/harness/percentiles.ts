// Exact percentiles from raw samples, by nearest rank: the answer is always a sample that was
// really measured. No buckets, no interpolation: a histogram's top bucket once clipped a tail of
// more than 1,000 s to "76–102 s".

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly total: number;
}

export function percentiles(samples: Float64Array): Percentiles {
  const sorted = samples.toSorted();
  return {
    p50: nearestRank(sorted, 50),
    p95: nearestRank(sorted, 95),
    p99: nearestRank(sorted, 99),
    max: nearestRank(sorted, 100),
    total: samples.reduce((sum, sample) => sum + sample, 0),
  };
}

/** The smallest sample with at least `percent` % of all samples at or below it. */
export function nearestRank(sorted: Float64Array, percent: number): number {
  const rank = Math.max(1, Math.ceil((percent * sorted.length) / 100));
  const sample = sorted[rank - 1];
  if (sample === undefined) throw new Error('percentile of no samples');
  return sample;
}

export function median(values: readonly number[]): number {
  return nearestRank(Float64Array.from(values).sort(), 50);
}

// A median with a distribution-free confidence interval: the order statistics whose ranks, by the
// binomial law, enclose the true median at least 95 % of the time. Nothing is assumed about the
// shape of the noise. Fewer than six values cannot support the claim, and then it is not made.

export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** false: too few values for 95 %; low and high are then merely the extremes. */
  readonly confident: boolean;
}

const CONFIDENCE = 0.95;

export function medianInterval(values: readonly number[]): MedianInterval {
  if (values.length === 0) throw new Error('median of no values');
  const sorted = values.toSorted((left, right) => left - right);
  const rank = widestTrim(sorted.length);
  const trim = rank ?? 0;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(sorted, Math.floor(middle)) + at(sorted, Math.ceil(middle))) / 2,
    low: at(sorted, trim),
    high: at(sorted, sorted.length - 1 - trim),
    confident: rank !== undefined,
  };
}

/** How many values may be cut at each end while the rest still covers the median at 95 %. */
function widestTrim(count: number): number | undefined {
  let probability = 0.5 ** count;
  let tail = 0;
  let trim: number | undefined;
  for (let cut = 0; cut < count / 2; cut++) {
    tail += probability;
    if (1 - 2 * tail < CONFIDENCE) break;
    trim = cut;
    probability = (probability * (count - cut)) / (cut + 1);
  }
  return trim;
}

function at(sorted: readonly number[], index: number): number {
  const value = sorted[index];
  if (value === undefined) throw new Error(`no value of rank ${index}`);
  return value;
}

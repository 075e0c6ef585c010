// What became of one action of a record, by its place.

import type { CycleDispositions, DispositionCode } from './format.ts';

/**
 * `unnamed`: held back or not, the bound left no room to say so; undefined: it was handed over for
 * execution.
 */
export function dispositionAt(
  dispositions: CycleDispositions,
  place: number,
): DispositionCode | 'unnamed' | undefined {
  const { runs } = dispositions;
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { first, count } = runs[middle] as (typeof runs)[number];
    if (place >= first + count) low = middle + 1;
    else high = middle;
  }
  const run = runs[low];
  if (run !== undefined) return place >= run.first ? run.code : undefined;
  return unnamedActionCount(dispositions) > 0 ? 'unnamed' : undefined;
}

/** Actions that were held back and are in no run. */
export function unnamedActionCount({ counts, runs }: CycleDispositions): number {
  let left = 0;
  for (const count of counts.values()) left += count;
  for (const { count } of runs) left -= count;
  return left;
}

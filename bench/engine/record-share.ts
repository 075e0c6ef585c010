// What decision records cost: 1 − time without ÷ time with, of two engines over the same fleet in
// the same process, cycle by cycle in turn, so that a slow moment of the machine hits both.

import { median } from '../harness/percentiles.ts';

/** One timed cycle, in milliseconds, or undefined for one that does not count. */
export type TimedCycle = () => number | undefined;

export function recordShare(withRecords: TimedCycle, without: TimedCycle, rounds: number): number {
  const withMs: number[] = [];
  const withoutMs: number[] = [];
  const warmup = Math.ceil(rounds / 10);
  for (let round = -warmup; round < rounds; round++) {
    const isFirst = round % 2 === 0;
    const first = isFirst ? withRecords() : without();
    const second = isFirst ? without() : withRecords();
    if (round < 0 || first === undefined || second === undefined) continue;
    withMs.push(isFirst ? first : second);
    withoutMs.push(isFirst ? second : first);
  }
  return 1 - median(withoutMs) / median(withMs);
}

export function timed(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

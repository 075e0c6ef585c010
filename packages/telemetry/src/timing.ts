// Durations, from the monotonic clock only: the wall clock can jump, and a negative or day-long
// sample in a histogram never goes away. One recorder feeds the public histogram and, when a trace
// is on, the raw sample beside it, so that both always speak of the same observations.

import type { Clock } from '@bigfleet/base';
import { assertNotNegative } from './metrics/checks.ts';
import type { Histogram } from './metrics/instruments.ts';
import type { SampleSeries } from './samples/trace.ts';

export interface DurationRecorder {
  /** Pass the result to `stop`. A plain number, so that timing allocates nothing. */
  start(): number;
  /** Records and returns the seconds since `startMs`. */
  stop(startMs: number): number;
  /** Same, for work that started elsewhere on this clock. */
  record(startMs: number, endMs: number): number;
}

export interface DurationRecorderOptions {
  readonly clock: Clock;
  readonly histogram: Histogram;
  /** Raw samples beside the buckets; absent when `--trace-samples` is. */
  readonly samples?: SampleSeries | undefined;
}

export function createDurationRecorder(options: DurationRecorderOptions): DurationRecorder {
  const { clock, histogram, samples } = options;
  const record = (startMs: number, endMs: number): number => {
    const seconds = durationSeconds(startMs, endMs);
    histogram.observe(seconds);
    samples?.record(startMs, seconds);
    return seconds;
  };
  return {
    start: () => clock.monotonicMs(),
    stop: (startMs) => record(startMs, clock.monotonicMs()),
    record,
  };
}

export function durationSeconds(startMs: number, endMs: number): number {
  assertNotNegative(endMs - startMs, 'a monotonic clock does not go back');
  return (endMs - startMs) / 1_000;
}

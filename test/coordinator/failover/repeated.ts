// A drill as often as told, or as the time box of a long test allows; its samples, raw, as one line of
// JSON in the test's output.

import assert from 'node:assert/strict';
import { monotonicMs } from '../../toolkit/index.ts';

const ALONE_MS = 20 * 60_000;

/** The part of a test context that this needs. */
export interface Notes {
  diagnostic(message: string): void;
}

export interface TimeBoxed {
  /** No drill begins after this long. */
  readonly withinMs?: number;
}

export async function repeated<Sample>(
  notes: Notes,
  drill: string,
  times: number,
  once: () => Promise<Sample>,
  { withinMs = Number.POSITIVE_INFINITY }: TimeBoxed = {},
): Promise<readonly Sample[]> {
  const endMs = monotonicMs() + withinMs;
  const samples: Sample[] = [];
  try {
    while (samples.length < times && monotonicMs() < endMs) samples.push(await once());
  } finally {
    notes.diagnostic(JSON.stringify({ drill, of: times, done: samples.length, samples }));
  }
  assert.ok(samples.length > 0, `${drill}: the time box left room for none`);
  return samples;
}

export interface Goal {
  /** With its unit. */
  readonly what: string;
  readonly measured: readonly number[];
  readonly atMost: number;
}

/** On record only: a busy machine misses a goal of time without a fault. */
export function noteGoal(notes: Notes, { what, measured, atMost }: Goal): void {
  const missedCount = measured.filter((each) => each > atMost).length;
  const largest = Math.max(...measured);
  notes.diagnostic(
    `${what}: at most ${largest}, goal ${atMost}, missed ${missedCount} of ${measured.length}`,
  );
}

/**
 * The time box of a long file: BIGFLEET_LONG_MS, or as long as it takes when run alone. The share
 * of the box that one of several loops of a file gets.
 */
export function longBoxMs(share: number = 1): number {
  return share * Number(process.env['BIGFLEET_LONG_MS'] ?? ALONE_MS);
}

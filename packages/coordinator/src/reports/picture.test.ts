// Proves the measured report interval: the gap between two reports, but never so long that a shard
// that was silent for an hour counts as fresh for the next three.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFresh } from '../moves/participants.ts';
import { pictureOf } from './picture.ts';
import { makeReport } from './testing/report-world.ts';

const MINUTE_MS = 60_000;

function afterSilence(gapMs: number): ReturnType<typeof pictureOf> {
  const at = (ms: number) => ({ monotonicMs: () => ms, unixNanos: () => 0n });
  const report = makeReport({ shardId: 'shard-a', shardEpoch: 1n, cycle: 1n });
  return pictureOf(report, pictureOf(report, undefined, at(0)), at(gapMs));
}

const CASES: readonly (readonly [gapMs: number, intervalMs: number, freshForMs: number])[] = [
  [500, 500, 30_000],
  [10_000, 10_000, 30_000],
  [20_000, 20_000, MINUTE_MS],
  [MINUTE_MS, MINUTE_MS, 3 * MINUTE_MS],
  [60 * MINUTE_MS, MINUTE_MS, 3 * MINUTE_MS],
];

for (const [gapMs, intervalMs, freshForMs] of CASES) {
  test(`a gap of ${gapMs} ms: fresh for ${freshForMs} ms`, () => {
    const picture = afterSilence(gapMs);
    assert.equal(picture.intervalMs, intervalMs);
    assert.equal(isFresh(picture, gapMs + freshForMs - 1), true);
    assert.equal(isFresh(picture, gapMs + freshForMs), false);
  });
}

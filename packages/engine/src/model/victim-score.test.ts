// Proves the locked victim score: its value, which way each term points, and that no input makes
// it infinite or overflow.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketUpperBoundDollars, PENALTY_BUCKETS } from '@bigfleet/base';
import { DEFAULT_VICTIM_WEIGHTS, ESTIMATED_DRAIN_SECONDS, victimScore } from './victim-score.ts';

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

function score(preemptor: number, priority: number, interruption = 1, reclamation = 1): number {
  return victimScore(preemptor, {
    priority,
    interruptionPenaltyDollars: interruption,
    reclamationPenaltyDollars: reclamation,
  });
}

test('the weights and the formula are the locked ones', () => {
  const expected = { priority: 1, drain: 0.1, interruption: 0.1, reclamation: 0.1 };
  assert.deepEqual(DEFAULT_VICTIM_WEIGHTS, expected);
  assert.equal(ESTIMATED_DRAIN_SECONDS, 30);
  assert.equal(score(1000, 100, 4, 8), 900 + (1 / 30) * 0.1 + (1 / 4) * 0.1 + (1 / 8) * 0.1);
});

test('lower priority, faster drain and lower penalties each raise the score', () => {
  assert.ok(score(1000, 99) > score(1000, 100));
  assert.ok(score(1000, 100, 1, 2) > score(1000, 100, 2, 2));
  assert.ok(score(1000, 100, 2, 1) > score(1000, 100, 2, 2));
  const victim = { priority: 1, interruptionPenaltyDollars: 1, reclamationPenaltyDollars: 1 };
  const drain = (seconds: number): number =>
    victimScore(10, victim, DEFAULT_VICTIM_WEIGHTS, seconds);
  assert.ok(drain(10) > drain(30));
});

test('zero and negative denominators stop at their floors', () => {
  const victim = { priority: 0, interruptionPenaltyDollars: 0, reclamationPenaltyDollars: 0 };
  for (const seconds of [0, -5, 1]) {
    const value = victimScore(0, victim, DEFAULT_VICTIM_WEIGHTS, seconds);
    assert.equal(value, 0.1 + (1 / 0.01) * 0.1 + (1 / 0.01) * 0.1);
  }
  assert.equal(score(0, 0, -3, 0.001), score(0, 0, 0, 0));
});

test('an infinite penalty contributes nothing', () => {
  const infinite = Number.POSITIVE_INFINITY;
  assert.equal(score(7, 3, infinite, infinite), 4 + (1 / 30) * 0.1);
});

test('a victim of higher priority has no negative gap', () => {
  assert.equal(score(0, 5), score(0, 0));
});

test('the extremes of int32 neither overflow nor lose their order', () => {
  const widest = score(INT32_MAX, INT32_MIN);
  assert.ok(widest > 2 ** 32 - 1 && widest < 2 ** 32);
  assert.ok(widest > score(INT32_MAX, INT32_MIN + 1));
  assert.ok(score(INT32_MIN, INT32_MAX) < 1);
});

test('every pair of buckets gives a finite score', () => {
  for (const interruption of PENALTY_BUCKETS) {
    for (const reclamation of PENALTY_BUCKETS) {
      const value = score(
        INT32_MAX,
        INT32_MIN,
        bucketUpperBoundDollars(interruption),
        bucketUpperBoundDollars(reclamation),
      );
      assert.ok(Number.isFinite(value), `${interruption} ${reclamation}`);
    }
  }
});

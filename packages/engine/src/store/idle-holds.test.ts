// Proves that the queue of idle machines yields exactly those whose hold has passed, oldest
// first, whatever came and went in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { IdleHolds } from './idle-holds.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'idle-holds-1';

function until(holds: IdleHolds, latestMs: number): number[] {
  const slots: number[] = [];
  holds.forEachUntil(latestMs, (slot) => slots.push(slot));
  return slots;
}

test('the boundary belongs to the expired', () => {
  const holds = new IdleHolds();
  holds.add(1, 100);
  holds.add(2, 200);
  holds.add(3, 300);
  assert.deepEqual(until(holds, 99), []);
  assert.deepEqual(until(holds, 200), [1, 2]);
  assert.deepEqual(until(holds, Number.POSITIVE_INFINITY), [1, 2, 3]);
  assert.deepEqual(until(holds, Number.NEGATIVE_INFINITY), []);
});

test('a machine that came back counts once, with its new stamp', () => {
  const holds = new IdleHolds();
  holds.add(1, 100);
  holds.remove(1);
  assert.deepEqual(until(holds, 1000), []);
  holds.add(1, 500);
  assert.deepEqual(until(holds, 400), []);
  assert.deepEqual(until(holds, 500), [1]);
});

test('an older stamp that arrives late is not hidden behind younger ones', () => {
  const holds = new IdleHolds();
  holds.add(1, 300);
  holds.add(2, 100);
  assert.deepEqual(until(holds, 200), [2]);
  assert.deepEqual(until(holds, 300), [2, 1]);
});

test('reading changes nothing, and an unknown slot may be removed', () => {
  const holds = new IdleHolds();
  holds.add(1, 1);
  holds.remove(7);
  assert.deepEqual(until(holds, 1), [1]);
  assert.deepEqual(until(holds, 1), [1]);
});

test(`agrees with a map over random use (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const holds = new IdleHolds();
  const model = new Map<number, number>();
  let nowMs = 0;
  for (let step = 0; step < 20_000; step++) {
    nowMs += random.below(3);
    const slot = random.below(400);
    if (model.has(slot)) {
      holds.remove(slot);
      model.delete(slot);
    } else {
      // Mostly from the clock; now and then restored from the past.
      const sinceMs = random.below(50) === 0 ? random.below(nowMs + 1) : nowMs;
      holds.add(slot, sinceMs);
      model.set(slot, sinceMs);
    }
    if (step % 400 !== 0) continue;
    const latestMs = nowMs - random.below(500);
    const expected = [...model].filter(([, sinceMs]) => sinceMs <= latestMs).map(([each]) => each);
    const found = until(holds, latestMs);
    const byNumber = (a: number, b: number): number => a - b;
    assert.deepEqual(found.toSorted(byNumber), expected.toSorted(byNumber));
    const stamps = found.map((each) => model.get(each) ?? -1);
    assert.deepEqual(stamps, stamps.toSorted(byNumber), 'oldest first');
  }
});

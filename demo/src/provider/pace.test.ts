// Proves that dwell times stay in their ranges, that every block of transitions has exactly one
// failure, and that one seed draws one history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import {
  dwellMs,
  FAILURE_BLOCK,
  firstInterruptionMs,
  nextInterruptionMs,
  Pace,
  type Step,
} from './pace.ts';

const SEEDS = 50;
const STEPS: readonly Step[] = ['create', 'configure', 'drain', 'delete'];

function paces(): readonly Pace[] {
  return Array.from({ length: SEEDS }, (_, seed) => new Pace(createRandom(String(seed))));
}

test('each step dwells within its range, and never for the same time', () => {
  for (const step of STEPS) {
    const [lo, hi] = dwellMs[step];
    const drawn = paces().map((pace) => pace.dwellMs(step));
    assert.ok(
      drawn.every((ms) => ms >= lo && ms <= hi),
      step,
    );
    assert.ok(new Set(drawn).size > SEEDS / 2, step);
  }
});

test('one create or configure of every block fails, at another place for other seeds', () => {
  const places = new Set<number>();
  for (const pace of paces()) {
    for (let block = 0; block < 3; block++) {
      const outcomes = Array.from({ length: FAILURE_BLOCK }, (_, at) =>
        pace.fails(at % 2 === 0 ? 'create' : 'configure'),
      );
      assert.equal(outcomes.filter(Boolean).length, 1);
      places.add(outcomes.indexOf(true));
    }
  }
  assert.ok(places.size > FAILURE_BLOCK / 2, `${places.size} places`);
});

test('drains and deletes never fail and use up no block', () => {
  const [subject, reference] = [0, 0].map(() => new Pace(createRandom('7')));
  assert.ok(subject !== undefined && reference !== undefined);
  const outcomes = Array.from({ length: FAILURE_BLOCK }, () => {
    assert.equal(subject.fails('drain') || subject.fails('delete'), false);
    return subject.fails('create');
  });
  const expected = Array.from({ length: FAILURE_BLOCK }, () => reference.fails('create'));
  assert.deepEqual(outcomes, expected);
});

test('the first interruption comes early, later ones at their own pace', () => {
  for (const pace of paces()) {
    const [first, second, third] = [0, 0, 0].map(() => pace.interruptionMs());
    assert.ok(isWithin(first, firstInterruptionMs), `${first}`);
    for (const later of [second, third]) assert.ok(isWithin(later, nextInterruptionMs), `${later}`);
  }
});

test('one seed draws one history', () => {
  const history = (seed: string): unknown => {
    const pace = new Pace(createRandom(seed));
    return Array.from({ length: 40 }, () => [
      pace.dwellMs('create'),
      pace.fails('create'),
      pace.interruptionMs(),
      pace.victim([1, 2, 3, 4]),
    ]);
  };
  assert.deepEqual(history('7'), history('7'));
  assert.notDeepEqual(history('7'), history('8'));
});

function isWithin(ms: number | undefined, [lo, hi]: readonly [number, number]): boolean {
  return ms !== undefined && ms >= lo && ms <= hi;
}

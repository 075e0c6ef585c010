// Proves that the victim index holds exactly the machines it was given, by class and effective
// priority.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { Columns } from './columns.ts';
import { VictimIndex } from './victim-index.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'victims-1';
const PRIORITIES = [-(2 ** 31), -1, 0, 1, 1000, 2 ** 31 - 1];

function below(index: VictimIndex, klass: number, priority: number): number[] {
  const slots: number[] = [];
  index.forEachBelow(klass, priority, (slot) => slots.push(slot));
  return slots.sort((a, b) => a - b);
}

test('below is strict, at the extremes of int32 too', () => {
  const columns = new Columns();
  columns.ensure(3);
  const index = new VictimIndex(columns);
  PRIORITIES.slice(0, 3).forEach((priority, slot) => {
    columns.effectivePriority[slot] = priority;
    index.add(slot);
  });
  assert.deepEqual(below(index, 0, -(2 ** 31)), []);
  assert.equal(index.hasBelow(0, -(2 ** 31)), false);
  assert.deepEqual(below(index, 0, -1), [0]);
  assert.deepEqual(below(index, 0, 0), [0, 1]);
  assert.deepEqual(below(index, 0, 2 ** 31 - 1), [0, 1, 2]);
  assert.deepEqual(below(index, 1, 2 ** 31 - 1), []);
  assert.equal(index.hasBelow(1, 2 ** 31 - 1), false);
});

test(`agrees with a plain list over random use (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const columns = new Columns();
  columns.ensure(200);
  const index = new VictimIndex(columns);
  const model = new Map<number, { readonly klass: number; readonly priority: number }>();
  for (let step = 0; step < 20_000; step++) {
    const slot = random.below(200);
    if (model.has(slot)) {
      index.remove(slot);
      model.delete(slot);
    } else {
      const klass = random.below(5);
      const priority = PRIORITIES[random.below(PRIORITIES.length)] ?? 0;
      columns.klass[slot] = klass;
      columns.effectivePriority[slot] = priority;
      index.add(slot);
      model.set(slot, { klass, priority });
    }
    if (step % 500 !== 0) continue;
    for (let klass = 0; klass < 6; klass++) {
      for (const priority of PRIORITIES) {
        const expected = [...model]
          .filter(([, entry]) => entry.klass === klass && entry.priority < priority)
          .map(([each]) => each)
          .sort((a, b) => a - b);
        assert.deepEqual(below(index, klass, priority), expected);
        assert.equal(index.hasBelow(klass, priority), expected.length > 0);
      }
    }
  }
});

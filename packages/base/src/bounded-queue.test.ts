// Proves that the queue behaves like an array cut off at its capacity, and that every item beyond
// the bound is counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from './assert.ts';
import { BoundedQueue } from './bounded-queue.ts';

test('any history equals a bounded array', () => {
  const step = fc.oneof(
    { weight: 40, arbitrary: fc.constant('push') },
    { weight: 20, arbitrary: fc.constant('shift') },
    { weight: 5, arbitrary: fc.constant('peek') },
    { weight: 1, arbitrary: fc.constant('clear') },
  );
  const history = fc.array(step, { minLength: 1, maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(history, fc.integer({ min: 1, max: 40 }), (steps, capacity) => {
      const queue = new BoundedQueue<number>(capacity);
      let model: number[] = [];
      let refused = 0;
      for (const [item, step] of steps.entries()) {
        if (step === 'push') {
          const expected = model.length < capacity ? 'queued' : 'refused';
          assert.equal(queue.push(item), expected);
          if (expected === 'refused') refused++;
          else model.push(item);
        } else if (step === 'shift') assert.equal(queue.shift(), model.shift());
        else if (step === 'peek') assert.equal(queue.peek(), model[0]);
        else {
          queue.clear();
          model = [];
        }
        assert.equal(queue.size, model.length);
      }
      assert.equal(queue.refusedCount, refused);
    }),
  );
});

test('a capacity that is no positive integer is a bug', () => {
  for (const capacity of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new BoundedQueue(capacity), AssertionError);
  }
});

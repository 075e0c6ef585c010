// Proves that the queue behaves like an array cut off at its capacity under either policy, and
// that every item beyond the bound is counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from './assert.ts';
import { BoundedQueue } from './bounded-queue.ts';

test('any history equals a bounded array, under both policies', () => {
  const step = fc.oneof(
    { weight: 40, arbitrary: fc.constant('push') },
    { weight: 20, arbitrary: fc.constant('shift') },
    { weight: 5, arbitrary: fc.constant('peek') },
    { weight: 1, arbitrary: fc.constant('clear') },
  );
  const history = fc.array(step, { minLength: 1, maxLength: 300, size: 'max' });
  const policy = fc.constantFrom('refuse' as const, 'drop_oldest' as const);
  fc.assert(
    fc.property(history, fc.integer({ min: 1, max: 40 }), policy, (steps, capacity, overflow) => {
      const dropped: number[] = [];
      const queue = new BoundedQueue<number>({
        capacity,
        overflow,
        onDrop: (item) => dropped.push(item),
      });
      let model: number[] = [];
      const modelDropped: number[] = [];
      let refused = 0;
      let peak = 0;
      for (const [item, step] of steps.entries()) {
        if (step === 'push') {
          const isFull = model.length === capacity;
          const expected = !isFull ? 'queued' : overflow === 'refuse' ? 'refused' : 'displaced';
          assert.equal(queue.push(item), expected);
          if (expected === 'refused') refused++;
          else model.push(item);
          if (expected === 'displaced') modelDropped.push(model.shift() ?? -1);
          peak = Math.max(peak, model.length);
        } else if (step === 'shift') assert.equal(queue.shift(), model.shift());
        else if (step === 'peek') assert.equal(queue.peek(), model[0]);
        else {
          queue.clear();
          model = [];
        }
        assert.equal(queue.size, model.length);
      }
      assert.deepEqual(dropped, modelDropped);
      assert.equal(queue.droppedCount, modelDropped.length);
      assert.equal(queue.refusedCount, refused);
      assert.equal(queue.peakSize, peak);
    }),
  );
});

test('onDrop may push again without losing order', () => {
  const queue: BoundedQueue<string> = new BoundedQueue({
    capacity: 2,
    overflow: 'drop_oldest',
    onDrop: (item) => {
      if (item === 'a') queue.push('from drop');
    },
  });
  for (const item of ['a', 'b', 'c']) queue.push(item);
  assert.deepEqual([queue.shift(), queue.shift(), queue.shift()], ['c', 'from drop', undefined]);
});

test('a capacity that is no positive integer is a bug', () => {
  for (const capacity of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new BoundedQueue({ capacity, overflow: 'refuse' }), AssertionError);
  }
});

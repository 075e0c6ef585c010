// Proves that roll-ups come out of a message as they went in, and that the message has bytes of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RollupOrder } from '../engine-host/engine-host.ts';
import { packRollups, unpackRollups } from './packing.ts';

const order = fc
  .tuple(fc.string({ maxLength: 4 }), fc.uint8Array({ maxLength: 9 }), fc.boolean())
  .map(([cluster, bytes, isGuarded]): RollupOrder => ({ cluster, bytes, isGuarded }));

test('whatever is packed is unpacked, in order', (context) => {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? 7_002);
  context.diagnostic(`seed ${seed}`);
  fc.assert(
    fc.property(fc.array(order, { maxLength: 6 }), (orders) => {
      const packed = structuredClone(packRollups(orders));
      assert.deepEqual([...unpackRollups(packed)], orders);
    }),
    { numRuns: 500, seed },
  );
});

test('the bytes of an order are copied, views of a larger buffer too', () => {
  const frame = Uint8Array.of(9, 1, 2, 9);
  const packed = packRollups([{ cluster: 'a', bytes: frame.subarray(1, 3), isGuarded: true }]);
  structuredClone(packed, { transfer: [packed.bytes.buffer] });
  assert.deepEqual([...frame], [9, 1, 2, 9]);
  assert.equal(packed.bytes.length, 0, 'only the copy was given away');
});

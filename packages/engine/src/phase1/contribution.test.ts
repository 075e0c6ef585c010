// Proves that crediting takes no machine that reduces nothing: neither from a class that never
// did, nor from one whose dimension is covered by now.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCycle } from '../cycle/plain.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { claimedBy, fleet, machines, need, resources, told } from '../testing/build.ts';

test('of identical bound machines as many as contribute are claimed, the rest is excess', () => {
  const input = fleet({
    machines: machines(4, 'm', {
      state: 'Configured',
      cluster: 'a',
      has: resources({ cpu: 1000 }),
    }),
    needs: [need({ wants: resources({ cpu: 2000, gpu: 1000 }) })],
  });
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  assert.deepEqual(claimedBy(output, 0), ['m1', 'm2']);
  assert.deepEqual(told(output), ['Reclaim m4', 'Reclaim m3']);
  assert.deepEqual(output.verdicts[0]?.deficit, resources({ gpu: 1000 }));
});

test('of two classes the one whose dimension is covered stays unclaimed', () => {
  const bound = { state: 'Configured', cluster: 'a' } as const;
  const input = fleet({
    machines: [
      ...machines(3, 'cpu', { ...bound, has: resources({ cpu: 1000 }), price: 2 }),
      ...machines(3, 'gpu', { ...bound, has: resources({ gpu: 1000 }), price: 2 }),
    ],
    needs: [need({ wants: resources({ cpu: 1000, gpu: 2000 }) })],
  });
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  assert.deepEqual(claimedBy(output, 0), ['cpu1', 'gpu1', 'gpu2']);
});

// Proves that groups on one spot are one mark and that no machine or dollar is lost in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CostGroup, costDots } from './cost-dots.ts';

const group = (patch: Partial<CostGroup>): CostGroup => ({
  instanceType: 'm',
  capacityType: 'Spot',
  zone: 'a',
  provider: 'north',
  interruptionPenalty: '8',
  price: 1,
  interruptionProbability: 0.05,
  loss: 0.4,
  count: 3,
  dollarsPerHour: 3,
  flags: [],
  ...patch,
});

test('zones, providers and penalties of one spot are one mark', () => {
  const [dot, ...rest] = costDots([
    group({ zone: 'b', count: 5, dollarsPerHour: 5 }),
    group({}),
    group({ provider: 'south', interruptionPenalty: '16' }),
  ]);
  assert.deepEqual(rest, []);
  assert.equal(dot?.count, 11);
  assert.equal(dot?.dollarsPerHour, 11);
  assert.deepEqual(dot?.zones, ['b', 'a']);
  assert.deepEqual(dot?.providers, ['north', 'south']);
  assert.deepEqual(dot?.penalties, ['8', '16']);
});

test('a flag, a type, a price or a loss without limit stands apart', () => {
  const apart = [
    group({}),
    group({ flags: ['pinned-on-spot'] }),
    group({ instanceType: 'n' }),
    group({ capacityType: 'Reserved' }),
    group({ price: 1.1 }),
    group({ loss: null }),
  ];
  const dots = costDots(apart);
  assert.equal(dots.length, apart.length);
  assert.equal(new Set(dots.map(({ key }) => key)).size, apart.length);
});

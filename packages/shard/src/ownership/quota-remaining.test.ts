// Proves what is left of a quota slice: elastic machines in any state but Speculative count, fixed
// ones do not, and a slice below what is held is zero, never negative.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityType, Inventory, State } from '@bigfleet/engine';
import { quotaRemaining } from './quota-remaining.ts';
import { idle, serving } from './testing/builders.ts';

function inventory(): Inventory {
  const made = new Inventory();
  const machines = [
    idle('idle'),
    serving('serving'),
    idle('spot', { capacityType: CapacityType.Spot }),
    idle('slot', { state: State.Speculative, host: undefined }),
    idle('metal', { capacityType: CapacityType.BareMetal }),
    idle('reserved', { capacityType: CapacityType.Reserved }),
    idle('elsewhere', { provider: 'beta' }),
  ];
  for (const machine of machines) assert.ok(made.put(machine, 0).ok);
  return made;
}

const slice = (provider: string, count: number, region = 'r') => ({
  provider,
  region,
  slice: count,
});
const cases: readonly (readonly [string, Parameters<typeof quotaRemaining>[0], object])[] = [
  ['no slice is no limit', [], {}],
  ['what is held is taken off', [slice('alpha', 5)], { alpha: 2 }],
  ['never below zero', [slice('alpha', 2)], { alpha: 0 }],
  ['each provider by itself', [slice('alpha', 3), slice('beta', 3)], { alpha: 0, beta: 2 }],
  ['a provider without machines', [slice('gamma', 4)], { gamma: 4 }],
  ['rows of one provider add up', [slice('alpha', 2), slice('alpha', 3, 'q')], { alpha: 2 }],
];
for (const [name, slices, expected] of cases) {
  test(name, () => {
    assert.deepEqual(Object.fromEntries(quotaRemaining(slices, inventory())), expected);
  });
}

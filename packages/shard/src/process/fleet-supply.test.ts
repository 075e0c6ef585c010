// Proves the counts behind hints against a walk over the machines, by type and for stable machines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { Inventory, type Machine, State, type StateCode } from '@bigfleet/engine';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { readSupply } from './fleet-supply.ts';

const STATES: readonly StateCode[] = [
  State.Idle,
  State.Speculative,
  State.Configured,
  State.Draining,
];

function slowly(machines: readonly Machine[], type: string | undefined, stableOnly: boolean) {
  const fitting = machines.filter(
    ({ instanceType, interruptionProbability }) =>
      (type === undefined || instanceType === type) &&
      (!stableOnly || interruptionProbability === 0),
  );
  const idle = fitting.filter(({ state }) => state === State.Idle);
  return {
    idleCount: idle.length,
    speculativeCount: fitting.filter(({ state }) => state === State.Speculative).length,
    cheapestIdlePrice:
      idle.length === 0 ? 0 : Math.min(...idle.map(({ pricePerHour }) => pricePerHour)),
  };
}

for (const seed of [1n, 2n, 3n]) {
  test(`counts are those of the machines (seed ${seed})`, () => {
    const random = createRandom(seed);
    const inventory = new Inventory();
    const machines: Machine[] = [];
    for (let at = 0; at < 300; at++) {
      const state = STATES[random.below(STATES.length)] ?? State.Idle;
      const machine = {
        ...machineOf(`m${at}`, state, 'blue'),
        pricePerHour: random.below(5) / 4,
        interruptionProbability: random.below(3) === 0 ? 0.1 : 0,
      };
      machines.push(machine);
      assert.ok(inventory.put(machine, 0).ok);
    }
    const supply = readSupply(inventory);
    for (const type of [undefined, 'small', 'large', 'none']) {
      for (const stableOnly of [false, true]) {
        const expected = slowly(machines, type, stableOnly);
        assert.deepEqual({ ...supply.count(type, stableOnly) }, expected);
      }
    }
  });
}

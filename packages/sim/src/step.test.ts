// Proves what a simulated step carries from cycle to cycle and what it does not depend on: idle
// stamps, the first roll-up, memory, rails, and the order of its inputs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import {
  type CycleInput,
  type CycleOutput,
  deployedRails,
  oracleCycle,
  State,
} from '@bigfleet/engine';
import { seedMachines, type ShapeSeed } from './closed-loop/seed-machines.ts';
import { buildRollup } from './closed-loop/rollup.ts';
import { profileOf } from './closed-loop/shape.ts';
import { tiny } from './closed-loop/shapes.ts';
import { instant, ProviderModel } from './provider/provider-model.ts';
import { CYCLE_PERIOD_MS, churnOf, countActions, SimulatedShard } from './step.ts';

const CLUSTER = 'c';

function shardWith(
  seed: Partial<ShapeSeed>,
  options: ConstructorParameters<typeof SimulatedShard>[1] = {},
  dwell = instant,
): SimulatedShard {
  const provider = new ProviderModel(dwell);
  for (const machine of seedMachines({ shape: tiny, density: 1, ...seed }, [CLUSTER])) {
    provider.add(machine);
  }
  return new SimulatedShard(provider, options);
}

function demand(shard: SimulatedShard, podCount: number): void {
  const profile = profileOf(tiny);
  const requests = Array.from({ length: podCount }, () => ({
    profile,
    group: '',
    resources: tiny.perPod,
  }));
  shard.demand.applyRollup(CLUSTER, buildRollup(CLUSTER, requests), shard.nowUnixNanos);
}

function watching(inputs: CycleInput[]): (input: CycleInput) => CycleOutput {
  return (input) => {
    inputs.push(input);
    return oracleCycle(input);
  };
}

test('idle stamps begin on entry, stay while idle and go when it leaves', () => {
  const inputs: CycleInput[] = [];
  const shard = shardWith(
    { configuredPerCluster: 1, idle: [{ count: 1 }] },
    { decide: watching(inputs) },
    { ...instant, drainCycles: 1 },
  );
  const idleId = 'tiny-stateless-idle1-001';
  const boundId = 'tiny-stateless-c-001';
  const start = shard.nowMs;
  demand(shard, 0);
  for (let cycle = 0; cycle < 4; cycle++) {
    if (cycle > 0) shard.provider.advance();
    if (cycle === 3) demand(shard, 1);
    shard.step();
  }
  const stamps = inputs.map(({ idleSinceMs }) => Object.fromEntries(idleSinceMs));
  assert.deepEqual(stamps, [
    { [idleId]: start },
    // Draining in the second cycle, idle from the third.
    { [idleId]: start },
    { [idleId]: start, [boundId]: start + 2 * CYCLE_PERIOD_MS },
    { [idleId]: start, [boundId]: start + 2 * CYCLE_PERIOD_MS },
  ]);
  // The need of the last cycle took the first by id: its stamp is gone.
  shard.provider.advance();
  shard.step();
  assert.deepEqual([...(inputs[4]?.idleSinceMs.keys() ?? [])], [idleId]);
});

test('a drain that completes at once starts its hold in the same cycle', () => {
  const inputs: CycleInput[] = [];
  const shard = shardWith({ configuredPerCluster: 1 }, { decide: watching(inputs) });
  const start = shard.nowMs;
  demand(shard, 0);
  shard.step();
  shard.step();
  assert.deepEqual([...(inputs[1]?.idleSinceMs.values() ?? [])], [start]);
});

test('nothing is reclaimed before the first roll-up, and an empty one counts', () => {
  const shard = shardWith({ configuredPerCluster: 2 });
  assert.equal(shard.step().actions.length, 0);
  demand(shard, 0);
  assert.equal(countActions(shard.step().actions).reclaims, 2);
});

test('memory comes back: shortfalls age', () => {
  const shard = shardWith({});
  demand(shard, 1);
  for (let cycle = 0; cycle < 3; cycle++) shard.step();
  assert.deepEqual(
    [...shard.memory.shortfalls.values()].map(({ ageCycles }) => ageCycles),
    [3],
  );
});

test('rails defer reclaims and the next cycle derives them again', () => {
  const shard = shardWith({ configuredPerCluster: 40 }, { rails: deployedRails });
  demand(shard, 0);
  const first = shard.step();
  assert.equal(first.actions.length, 2);
  assert.equal(first.railed.deferredByReclaimCap.length, 38);
  assert.equal(shard.provider.list().filter(({ state }) => state === State.Configured).length, 38);
  assert.equal(shard.step().actions.length, 1);
});

test('a limit on actions keeps the head of the list', () => {
  const rails = { reclaimCapFraction: 0, maxActionsPerCycle: 3 };
  const shard = shardWith({ idle: [{ count: 10 }] }, { rails });
  demand(shard, 10);
  const { actions, railed, output } = shard.step();
  assert.deepEqual(actions, output.actions.slice(0, 3));
  assert.equal(railed.deferredByMaxActions.length, 7);
});

test('the order of machines and rows changes nothing', () => {
  const run = (seed: string | undefined): unknown[] => {
    const options = seed === undefined ? {} : { shuffle: createRandom(seed) };
    const shard = shardWith(
      { configuredPerCluster: 3, idle: [{ count: 4 }], speculative: [{ count: 5 }] },
      options,
    );
    return [8, 2, 11].map((pods) => {
      demand(shard, pods);
      return shard.step().actions;
    });
  };
  const plain = run(undefined);
  for (const seed of ['a', 'b', 'c']) assert.deepEqual(run(seed), plain, `seed ${seed}`);
});

test('a decision with two actions for one machine is a bug', () => {
  const shard = shardWith(
    { idle: [{ count: 1 }] },
    {
      decide: (input) => {
        const output = oracleCycle(input);
        return { ...output, actions: [...output.actions, ...output.actions] };
      },
    },
  );
  demand(shard, 1);
  assert.throws(() => shard.step(), { name: 'AssertionError' });
});

test('churn is the sum of the five kinds', () => {
  const shard = shardWith({
    configuredPerCluster: 1,
    idle: [{ count: 1 }],
    speculative: [{ count: 1 }],
  });
  demand(shard, 3);
  const counts = countActions(shard.step().actions);
  assert.deepEqual(counts, { bootstraps: 1, provisions: 1, reclaims: 0, preempts: 0, deletes: 0 });
  assert.equal(churnOf(counts), 2);
  assert.equal(churnOf({ ...counts, reclaims: 3, preempts: 4, deletes: 5 }), 14);
});

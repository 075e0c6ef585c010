// Proves the fixed-point laws: constant demand goes quiet within a stated number of cycles for
// every create and configure dwell from 0 to 10 under rotating arrival order, and one loss causes
// exactly one acquisition; and that random worlds come to rest.

import { test } from 'node:test';
import { ActionKind } from '@bigfleet/engine';
import type { Decide } from '../step.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type LoopPlan } from './closed-loop.ts';
import { cyclesToQuiet, total } from './stats.ts';
import { expectConverged, expectEqual, expectTotal, expectTrue, lastOf } from './testing/expect.ts';
import { randomWorld } from './testing/random-world.ts';
import { cacheGang, gpuGang, tiny } from './shapes.ts';

const DWELL_MAX = 10;
const DWELLS = Array.from({ length: DWELL_MAX + 1 }, (_, cycles) => cycles);

/** Nothing is released here: a hold running out is an action, and not the law's subject. */
const noRelease = { onDemandHoldMs: 0, spotHoldMs: 0 };

const constant: LoopPlan = {
  name: 'constant-demand',
  rollupArrivalStamps: true,
  releasePolicy: noRelease,
  clusters: equalClusters(3, [
    { shape: tiny, objects: 1, replicas: 35 },
    { shape: gpuGang, objects: 2, replicas: 3 },
    { shape: cacheGang, objects: 2, replicas: 4 },
  ]),
  seeds: [
    {
      shape: tiny,
      density: 10,
      configuredPerCluster: 2,
      idle: [{ count: 2 }],
      speculative: [{ count: 8 }],
    },
    {
      shape: gpuGang,
      density: 1,
      racksPerZone: 3,
      contiguousRackBlock: 4,
      configuredPerCluster: 2,
      idle: [{ count: 4 }],
      speculative: [{ count: 30 }],
    },
    { shape: cacheGang, density: 10, idle: [{ count: 2 }], speculative: [{ count: 6 }] },
  ],
};

/**
 * Buy in the first cycle, bind what was created in the cycle that finds it: without dwell one
 * cycle, with dwell the create and two more. Configure dwell adds nothing, because Configuring
 * counts from its stamp.
 */
const quietBound = (createCycles: number): number => (createCycles === 0 ? 1 : createCycles + 2);

for (const { name, decide } of deciders) {
  for (const create of DWELLS) {
    test(`constant demand goes quiet: create ${create}, configure 0–${DWELL_MAX} (${name})`, () => {
      for (const configure of DWELLS) expectQuiet(create, configure, decide);
    });

    test(`one loss, one acquisition: create ${create}, configure 0–${DWELL_MAX} (${name})`, () => {
      for (const configure of DWELLS) {
        expectOneAcquisition('plain', create, configure, decide);
        expectOneAcquisition('gang', create, configure, decide);
      }
    });
  }
}

function expectQuiet(create: number, configure: number, decide: Decide): void {
  const plan: LoopPlan = {
    ...constant,
    name: `constant-demand-${create}-${configure}`,
    provisionDwellCycles: create,
    bootstrapDwellCycles: configure,
    drainDwellCycles: configure,
  };
  const loop = new ClosedLoop(plan, { decide }).run(create + configure + 25);
  const quiet = cyclesToQuiet(loop.stats);
  expectTrue(loop, quiet <= quietBound(create), `busy for ${quiet} cycles`);
  expectTotal(loop, 'shortfalls', 0);
  expectEqual(loop, lastOf(loop).pendingPods, 0, 'pending Pods');
}

const LOSS_CYCLE = 3;

function expectOneAcquisition(
  kind: 'plain' | 'gang',
  create: number,
  configure: number,
  decide: Decide,
): void {
  const shape = kind === 'gang' ? gpuGang : tiny;
  const density = kind === 'gang' ? 1 : 10;
  const plan: LoopPlan = {
    name: `one-loss-${kind}-${create}-${configure}`,
    rollupArrivalStamps: true,
    stampSeededGangAttribution: true,
    clusters: equalClusters(2, [{ shape, objects: 1, replicas: 3 * density }]),
    seeds: [
      {
        shape,
        density,
        configuredPerCluster: 3,
        racksPerZone: 1,
        contiguousRackBlock: 3,
        speculative: [{ count: 9 }],
      },
    ],
    faults: [{ cycle: LOSS_CYCLE, cluster: 'cluster-2', count: 1 }],
    provisionDwellCycles: create,
    bootstrapDwellCycles: configure,
  };
  const loop = new ClosedLoop(plan, { decide }).run(LOSS_CYCLE + create + configure + 12);
  expectTotal(loop, 'lost', 1);
  expectTotal(loop, 'provisions', 1);
  // Created at once it is bound by the same action, else by the cycle that finds it.
  expectTotal(loop, 'bootstraps', create === 0 ? 0 : 1);
  expectTotal(loop, 'reclaims', 0);
  expectEqual(loop, new Set(loop.actions.map(({ machineId }) => machineId)).size, 1, 'machines');
  expectEqual(loop, lastOf(loop).pendingPods, 0, 'pending Pods');
}

const WORLD_COUNT = 60;

for (const { name, decide } of deciders) {
  test(`${WORLD_COUNT} random worlds without preemption come to rest (${name})`, () => {
    for (let world = 0; world < WORLD_COUNT; world++) {
      const { plan, seed } = randomWorld(world);
      const loop = new ClosedLoop(plan, { decide, seed }).run(120);
      expectConverged(loop, 40);
      const preempts = loop.actions.filter(({ kind }) => kind === ActionKind.Preempt);
      expectEqual(loop, preempts.length, 0, 'preempts');
      const machines = loop.provider.list().length;
      expectTrue(loop, total(loop.stats, 'churn') <= 4 * machines, 'machines circled before rest');
    }
  });
}

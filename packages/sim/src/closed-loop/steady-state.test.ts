// Proves that constant demand comes to rest and stays there, whatever the dwells and however the
// order of roll-ups rotates.

import { test } from 'node:test';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type LoopPlan } from './closed-loop.ts';
import { cyclesToQuiet } from './stats.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  expectTrue,
  lastOf,
  printDwell,
} from './testing/expect.ts';
import { gpuGang, service, tiny } from './shapes.ts';

const CYCLES = 300;
const TRAILING = 100;

/** Per cluster: two tiny machines too many, one service machine too few, gangs exact. */
const steady: LoopPlan = {
  name: 'steady-state',
  clusters: equalClusters(2, [
    { shape: tiny, objects: 1, replicas: 200 },
    { shape: service, objects: 1, replicas: 50 },
    { shape: gpuGang, objects: 3, replicas: 4 },
  ]),
  seeds: [
    { shape: tiny, density: 10, configuredPerCluster: 22, speculative: [{ count: 10 }] },
    {
      shape: service,
      density: 10,
      configuredPerCluster: 4,
      idle: [{ count: 1 }],
      speculative: [{ count: 10 }],
    },
    {
      shape: gpuGang,
      density: 1,
      configuredPerCluster: 12,
      contiguousRackBlock: 4,
      speculative: [{ count: 12 }],
    },
  ],
};

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    for (const rollupArrivalStamps of [false, true]) {
      const order = rollupArrivalStamps ? 'rotating roll-ups' : 'first-seen order';
      test(`steady state converges (${name}, ${printDwell(dwell)}, ${order})`, () => {
        const plan = { ...steady, ...dwell, rollupArrivalStamps };
        const loop = new ClosedLoop(plan, { decide }).run(CYCLES);
        expectConverged(loop, TRAILING);
        const last = lastOf(loop);
        expectEqual(loop, last.shortfalls, 0, 'shortfalls');
        expectEqual(loop, last.configured, 2 * (20 + 5 + 12), 'Configured');
        const share = last.boundPods / last.livePods;
        expectTrue(loop, share >= 0.99, `only ${share} of the Pods are bound`);
        expectTotal(loop, 'reclaims', 2 * 2);
      });
    }
  }
}

/** Nine machines for demand of twelve: whoever comes first gets more, and that keeps changing. */
const scarce: LoopPlan = {
  name: 'alternating-roll-ups',
  rollupArrivalStamps: true,
  clusters: equalClusters(3, [{ shape: tiny, objects: 1, replicas: 40 }]),
  seeds: [
    {
      shape: tiny,
      density: 10,
      configuredPerCluster: 1,
      idle: [{ count: 3 }],
      speculative: [{ count: 3 }],
    },
  ],
};

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    test(`alternating roll-up order is inert (${name}, ${printDwell(dwell)})`, () => {
      const loop = new ClosedLoop({ ...scarce, ...dwell }, { decide }).run(60);
      const quiet = cyclesToQuiet(loop.stats);
      expectTrue(loop, quiet <= 10, `busy until cycle ${quiet}`);
      expectEqual(loop, lastOf(loop).configured, 9, 'Configured');
      expectEqual(loop, lastOf(loop).shortfalls, 1, 'shortfalls');
      expectTotal(loop, 'reclaims', 0);
      expectTotal(loop, 'preempts', 0);
    });
  }
}

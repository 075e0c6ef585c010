// Proves that preemption frees what is needed, once, and then rests, while drains take their time.
// A twin that cannot see Draining machines takes fresh victims every cycle.

import { test } from 'node:test';
import { type CycleInput, oracleCycle, State } from '@bigfleet/engine';
import type { Decide } from '../step.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, type LoopPlan } from './closed-loop.ts';
import type { Shape } from './shape.ts';
import { cyclesToQuiet, total } from './stats.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  expectTrue,
  lastOf,
  printDwell,
} from './testing/expect.ts';
import { gpuGang, tiny } from './shapes.ts';

const critical: Shape = { ...tiny, name: 'critical', priority: 1_000_000 };

/** Batch work holds everything when critical work arrives. */
const inversion: LoopPlan = {
  name: 'preemption',
  rollupArrivalStamps: true,
  clusters: [
    { id: 'batch', workloads: [{ shape: tiny, objects: 1, replicas: 100 }] },
    { id: 'critical', workloads: [{ shape: critical, objects: 1, replicas: 0 }] },
  ],
  seeds: [{ shape: tiny, density: 10, idle: [{ count: 10 }] }],
  scales: [{ cycle: 10, shape: 'critical', replicas: 40 }],
};

const blind: Decide = (input: CycleInput) =>
  oracleCycle({
    ...input,
    machines: input.machines.filter(({ state }) => state !== State.Draining),
  });

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    test(`exactly enough victims, then rest (${name}, ${printDwell(dwell)})`, () => {
      const loop = new ClosedLoop({ ...inversion, ...dwell }, { decide }).run(80);
      expectConverged(loop, 50);
      expectTotal(loop, 'preempts', 4);
      expectTotal(loop, 'reclaims', 0);
      const quiet = cyclesToQuiet(loop.stats) - 10;
      expectTrue(loop, quiet <= dwell.drainDwellCycles + 2, `busy for ${quiet} cycles`);
      const counts = loop.clusters.map((cluster) => cluster.counts().bound);
      expectEqual(loop, counts, [60, 40], 'bound Pods');
      expectEqual(loop, lastOf(loop).shortfalls, 1, 'shortfalls');
    });
  }

  test(`a gang preempts inside its rack and takes what it freed (${name})`, () => {
    const plan: LoopPlan = {
      name: 'gang-preemption',
      clusters: [
        { id: 'batch', workloads: [{ shape: batchOnGpus, objects: 1, replicas: 8 }] },
        { id: 'training', workloads: [{ shape: gpuGang, objects: 1, replicas: 0 }] },
      ],
      seeds: [{ shape: gpuGang, density: 1, contiguousRackBlock: 9, idle: [{ count: 9 }] }],
      scales: [{ cycle: 10, shape: gpuGang.name, replicas: 3 }],
      bootstrapDwellCycles: 1,
      drainDwellCycles: 4,
    };
    const loop = new ClosedLoop(plan, { decide }).run(80);
    expectConverged(loop, 50);
    expectTotal(loop, 'preempts', 2);
    expectEqual(loop, loop.cluster('training').counts().bound, 3, 'bound gang Pods');
    expectTotal(loop, 'domainChanges', 0);
  });
}

const { same: _same, ...plainGpu } = gpuGang;
const batchOnGpus: Shape = { ...plainGpu, name: 'batch-on-gpus', priority: 100 };

test('blind to Draining, a long drain costs fresh victims', () => {
  const plan = { ...inversion, drainDwellCycles: 6 };
  const loop = new ClosedLoop(plan, { decide: blind }).run(40);
  expectTrue(loop, total(loop.stats, 'preempts') > 4, 'the loop does not show the blindness');
});

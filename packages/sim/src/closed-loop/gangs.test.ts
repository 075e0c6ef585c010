// Proves that gangs which no domain can hold stay short quietly, and that gangs smaller than a
// machine do not each demand a whole one.

import { test } from 'node:test';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type LoopPlan } from './closed-loop.ts';
import { cyclesToQuiet, total } from './stats.ts';
import type { Shape } from './shape.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  expectTrue,
  lastOf,
  printDwell,
} from './testing/expect.ts';
import { cacheGang, gpuGang, tiny } from './shapes.ts';

/** Twelve machines per cluster over twelve racks: no rack holds a gang of four. */
const scatter: LoopPlan = {
  name: 'gang-scatter',
  rollupArrivalStamps: true,
  clusters: equalClusters(2, [
    { shape: gpuGang, objects: 3, replicas: 4 },
    { shape: tiny, objects: 1, replicas: 40 },
  ]),
  seeds: [
    { shape: gpuGang, density: 1, configuredPerCluster: 12 },
    { shape: tiny, density: 10, configuredPerCluster: 4 },
  ],
};

const oversizedGang: Shape = { ...gpuGang, name: 'oversized-gang' };

/** Every rack holds four. */
const oversized: LoopPlan = {
  name: 'oversized-gang',
  rollupArrivalStamps: true,
  clusters: equalClusters(1, [
    { shape: oversizedGang, objects: 1, replicas: 8 },
    { shape: gpuGang, objects: 2, replicas: 4 },
    { shape: tiny, objects: 1, replicas: 40 },
  ]),
  seeds: [
    {
      shape: gpuGang,
      density: 1,
      racksPerZone: 2,
      contiguousRackBlock: 4,
      speculative: [{ count: 24 }],
    },
    { shape: tiny, density: 10, configuredPerCluster: 3, speculative: [{ count: 4 }] },
  ],
};

/** Eight gangs of five over three racks of eight, half of each idle: at most three fit. */
const contention: LoopPlan = {
  name: 'gang-contention',
  rollupArrivalStamps: true,
  clusters: equalClusters(4, [{ shape: gpuGang, objects: 2, replicas: 5 }]),
  seeds: [
    {
      shape: gpuGang,
      density: 1,
      racksPerZone: 2,
      contiguousRackBlock: 4,
      idle: [{ count: 12 }],
      speculative: [{ count: 12 }],
    },
  ],
};

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    const under = `${name}, ${printDwell(dwell)}`;

    test(`gang scatter: constant shortfall, no churn (${under})`, () => {
      const loop = new ClosedLoop({ ...scatter, ...dwell }, { decide }).run(300);
      expectConverged(loop, 100);
      expectTrue(loop, lastOf(loop).shortfalls > 0, 'the gangs cannot be satisfied');
      // What the gangs cannot use is shed once at the start, and then never again.
      const quiet = cyclesToQuiet(loop.stats);
      expectTrue(loop, quiet <= 10, `busy until cycle ${quiet}`);
      const later = total(loop.stats.slice(10), 'reclaimMatchesShortfall');
      expectEqual(loop, later, 0, 'reclaims that match a shortfall');
    });

    test(`oversized gang: binds what a rack holds, neighbours unaffected (${under})`, () => {
      const loop = new ClosedLoop({ ...oversized, ...dwell }, { decide }).run(160);
      expectConverged(loop, 100);
      expectTotal(loop, 'reclaimMatchesShortfall', 0);
      expectTotal(loop, 'reclaims', 0);
      expectEqual(loop, lastOf(loop).shortfalls, 1, 'shortfalls');
      const cluster = loop.cluster('cluster-1');
      expectEqual(loop, cluster.countsOf('oversized-gang'), { bound: 4, pending: 4 }, 'big gang');
      expectEqual(loop, cluster.boundPerObject(gpuGang.name), [4, 4], 'gangs that fit');
      expectEqual(loop, cluster.countsOf(tiny.name), { bound: 40, pending: 0 }, 'plain Pods');
    });

    test(`contending gangs park quietly (${under})`, () => {
      const loop = new ClosedLoop({ ...contention, ...dwell }, { decide }).run(180);
      expectConverged(loop, 100);
      expectTotal(loop, 'reclaims', 0);
      expectEqual(loop, lastOf(loop).configured, 24, 'Configured');
      const verdicts = loop.lastStep?.output.verdicts ?? [];
      const settled = verdicts.filter(({ satisfied, parked }) => satisfied || parked);
      const parked = verdicts.filter((verdict) => verdict.parked);
      expectEqual(loop, settled.length, 8, 'gangs that are satisfied or parked');
      // A machine that was created is anybody's, so with dwell three racks may serve six halves.
      expectTrue(loop, parked.length >= 5, `only ${parked.length} gangs are parked`);
    });
  }
}

interface SubMachineCase {
  readonly what: string;
  readonly density: number;
  readonly contiguousRackBlock: number;
  readonly configuredAtEnd: number;
}

const subMachineCases: readonly SubMachineCase[] = [
  // 48 Pods fill 4.8 machines of one rack; the sixth is shed and the rack still holds everybody.
  { what: 'ten to a machine, one rack', density: 10, contiguousRackBlock: 6, configuredAtEnd: 5 },
  // Two whole gangs to a machine, every machine in a rack of its own.
  {
    what: 'eight to a machine, a rack each',
    density: 8,
    contiguousRackBlock: 0,
    configuredAtEnd: 6,
  },
];

for (const { name, decide } of deciders) {
  for (const { what, density, contiguousRackBlock, configuredAtEnd } of subMachineCases) {
    for (const dwell of DWELLS) {
      test(`sub-machine gangs: ${what} (${name}, ${printDwell(dwell)})`, () => {
        const plan: LoopPlan = {
          name: 'sub-machine-gangs',
          clusters: equalClusters(1, [{ shape: cacheGang, objects: 12, replicas: 4 }]),
          seeds: [
            {
              shape: cacheGang,
              density,
              contiguousRackBlock,
              configuredPerCluster: 6,
              idle: [{ count: 6 }],
              speculative: [{ count: 12 }],
            },
          ],
          ...dwell,
        };
        const loop = new ClosedLoop(plan, { decide }).run(100);
        expectConverged(loop, 60);
        expectTotal(loop, 'shortfalls', 0);
        expectTotal(loop, 'bootstraps', 0);
        expectTotal(loop, 'provisions', 0);
        expectEqual(loop, lastOf(loop).boundPods, 48, 'bound Pods');
        expectEqual(loop, lastOf(loop).configured, configuredAtEnd, 'Configured');
      });
    }
  }
}

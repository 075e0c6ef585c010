// Proves that a gang stays where its machines are: with equally good racks at hand, machines in
// flight and roll-ups that rotate, no chosen domain changes while demand is constant.

import { test } from 'node:test';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type LoopPlan } from './closed-loop.ts';
import { cyclesToQuiet, total } from './stats.ts';
import { expectConverged, expectEqual, expectTotal, expectTrue, lastOf } from './testing/expect.ts';
import { gpuGang } from './shapes.ts';

/** Half of the gangs are served at the start; every rack holds three, so all look alike. */
const gangs: LoopPlan = {
  name: 'gang-incumbency',
  rollupArrivalStamps: true,
  stampSeededGangAttribution: true,
  clusters: equalClusters(3, [{ shape: gpuGang, objects: 4, replicas: 3 }]),
  seeds: [
    {
      shape: gpuGang,
      density: 1,
      configuredPerCluster: 6,
      racksPerZone: 6,
      contiguousRackBlock: 3,
      idle: [{ count: 18 }],
      speculative: [{ count: 36 }],
    },
  ],
};

for (const { name, decide } of deciders) {
  for (const bootstrapDwellCycles of [1, 2, 3, 5]) {
    test(`configure dwell ${bootstrapDwellCycles}: no domain ever changes (${name})`, () => {
      const loop = new ClosedLoop({ ...gangs, bootstrapDwellCycles }, { decide }).run(80);
      expectConverged(loop, 60);
      expectTotal(loop, 'domainChanges', 0);
      expectTotal(loop, 'reclaims', 0);
      expectTotal(loop, 'evicted', 0);
      expectEqual(loop, lastOf(loop).boundPods, 36, 'bound Pods');
    });

    // A created machine turns Idle before it is bound and is then anybody's; what is promised is
    // that the choice rests once the machines are bound.
    for (const provisionDwellCycles of [1, 2, 4, 7]) {
      const under = `create ${provisionDwellCycles}, configure ${bootstrapDwellCycles}, ${name}`;
      test(`once bound, no domain changes (${under})`, () => {
        const plan = { ...gangs, bootstrapDwellCycles, provisionDwellCycles };
        const loop = new ClosedLoop(plan, { decide }).run(80);
        expectConverged(loop, 50);
        const quiet = cyclesToQuiet(loop.stats);
        expectTrue(loop, quiet <= provisionDwellCycles + 2, `busy until cycle ${quiet}`);
        expectEqual(loop, total(loop.stats.slice(quiet), 'domainChanges'), 0, 'domain changes');
        expectTotal(loop, 'reclaims', 0);
        expectEqual(loop, lastOf(loop).boundPods, 36, 'bound Pods');
      });
    }
  }

  // A gang that lost a member may be credited with a sister's whole rack, the sister with the next;
  // the ledger moves, the machines do not.
  test(`a loss costs one acquisition and moves no machine (${name})`, () => {
    const faults = [10, 20, 30].map((cycle) => ({ cycle, cluster: 'cluster-2', count: 1 }));
    const plan = { ...gangs, bootstrapDwellCycles: 2, provisionDwellCycles: 3, faults };
    const loop = new ClosedLoop(plan, { decide }).run(80);
    expectConverged(loop, 30);
    expectTotal(loop, 'lost', 3);
    expectTotal(loop, 'evicted', 3);
    expectTotal(loop, 'reclaims', 0);
    const acquired = loop.actions
      .filter(({ cycle }) => cycle >= 10)
      .map(({ machineId }) => machineId);
    expectEqual(loop, new Set(acquired).size, 3, 'acquired machines');
    expectEqual(loop, lastOf(loop).boundPods, 36, 'bound Pods');
  });
}

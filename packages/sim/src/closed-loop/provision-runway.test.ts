// Proves that capacity on its way is counted: a lost machine is replaced once, however long a
// create takes. A blinded twin, which cannot see whose a Creating machine is, buys one more per
// cycle of dwell, so the loop can tell the difference.

import { test } from 'node:test';
import { ActionKind, type CycleInput, noAssignment, oracleCycle, State } from '@bigfleet/engine';
import type { Decide } from '../step.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type FaultEvent, type LoopPlan } from './closed-loop.ts';
import { total } from './stats.ts';
import { expectConverged, expectEqual, expectTotal, expectTrue, lastOf } from './testing/expect.ts';
import { gpuGang } from './shapes.ts';

const CLUSTER = 'cluster-1';
const GANG = 7;

/** One gang in one rack, with room to replace every member there. */
const runway: LoopPlan = {
  name: 'provision-runway',
  clusters: equalClusters(1, [{ shape: gpuGang, objects: 1, replicas: GANG }]),
  seeds: [
    {
      shape: gpuGang,
      density: 1,
      configuredPerCluster: GANG,
      contiguousRackBlock: GANG,
      speculative: [{ count: 3 * GANG }],
    },
  ],
  stampSeededGangAttribution: true,
};

const lossAt30 = (count: number): FaultEvent[] => [{ cycle: 30, cluster: CLUSTER, count }];

const blind: Decide = (input: CycleInput) =>
  oracleCycle({
    ...input,
    machines: input.machines.map((machine) =>
      machine.state === State.Creating
        ? { ...machine, assigned: noAssignment, intendedCluster: '' }
        : machine,
    ),
  });

for (const dwell of [0, 1, 2, 3, 5]) {
  for (const { name, decide } of deciders) {
    for (const bootstrapDwellCycles of [0, 2]) {
      const under = `${name}, configure ${bootstrapDwellCycles}`;
      test(`one loss, one acquisition at create dwell ${dwell} (${under})`, () => {
        const plan = { ...runway, provisionDwellCycles: dwell, bootstrapDwellCycles };
        const loop = new ClosedLoop({ ...plan, faults: lossAt30(1) }, { decide }).run(120);
        expectConverged(loop, 60);
        expectTotal(loop, 'lost', 1);
        expectTotal(loop, 'provisions', 1);
        expectTotal(loop, 'reclaims', 0);
        expectTotal(loop, 'shortfalls', 0);
        expectEqual(loop, lastOf(loop).boundPods, GANG, 'bound Pods');
        const acquired = new Set(
          loop.actions
            .filter(({ kind }) => kind === ActionKind.Bootstrap || kind === ActionKind.Provision)
            .map(({ machineId }) => machineId),
        );
        expectEqual(loop, acquired.size, 1, 'acquired machines');
      });
    }
  }

  test(`blind to Creating, one loss costs ${dwell + 1} at create dwell ${dwell}`, () => {
    const plan = { ...runway, provisionDwellCycles: dwell, faults: lossAt30(1) };
    const loop = new ClosedLoop(plan, { decide: blind }).run(60);
    expectTotal(loop, 'provisions', dwell + 1);
  });
}

for (const { name, decide } of deciders) {
  for (const dwell of [0, 2, 4, 6]) {
    test(`burst loss: four of seven, four provisions at dwell ${dwell} (${name})`, () => {
      const plan = { ...runway, provisionDwellCycles: dwell, faults: lossAt30(4) };
      const loop = new ClosedLoop(plan, { decide }).run(80);
      expectConverged(loop, 30);
      expectTotal(loop, 'lost', 4);
      expectTotal(loop, 'provisions', 4);
      expectTotal(loop, 'reclaims', 0);
      expectEqual(loop, lastOf(loop).boundPods, GANG, 'bound Pods');
    });
  }
}

/** Racks run dry under repeated loss, so the gang has to move now and then. */
function repeatedLoss(
  everyCycles: number,
  provisionDwellCycles: number,
  decide: Decide,
): ClosedLoop {
  const faults: FaultEvent[] = [];
  for (let cycle = 5; cycle < 220; cycle += everyCycles) {
    faults.push({ cycle, cluster: CLUSTER, count: 1 });
  }
  const plan: LoopPlan = {
    ...runway,
    name: 'repeated-loss',
    seeds: [
      {
        shape: gpuGang,
        density: 1,
        configuredPerCluster: GANG,
        racksPerZone: 3,
        contiguousRackBlock: 40,
        speculative: [{ count: 360 }],
      },
    ],
    faults,
    provisionDwellCycles,
  };
  return new ClosedLoop(plan, { decide }).run(220);
}

const reclaimsPerLoss = (loop: ClosedLoop): number =>
  total(loop.stats, 'reclaims') / total(loop.stats, 'lost');

for (const { name, decide } of deciders) {
  for (const everyCycles of [1, 2, 3]) {
    test(`loss every ${everyCycles} cycles: dwell adds no reclaims (${name})`, () => {
      const floorLoop = repeatedLoss(everyCycles, 0, decide);
      const floor = reclaimsPerLoss(floorLoop);
      expectTrue(floorLoop, floor <= 0.25, `${floor} reclaims per loss without dwell`);
      for (const dwell of [2, 4]) {
        const loop = repeatedLoss(everyCycles, dwell, decide);
        expectTrue(loop, total(loop.stats, 'lost') > 50, 'hardly anything was lost');
        const perLoss = reclaimsPerLoss(loop);
        expectTrue(loop, perLoss <= floor, `${perLoss} per loss at dwell ${dwell}, ${floor} at 0`);
      }
    });
  }
}

// Proves that surplus is given back exactly once, after its hold and only where capacity is
// elastic, and that nothing buys it back.

import { test } from 'node:test';
import { ActionKind, CapacityType, State, stateName } from '@bigfleet/engine';
import { CYCLE_PERIOD_MS } from '../step.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, equalClusters, type LoopPlan } from './closed-loop.ts';
import { total } from './stats.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  expectTrue,
  lastOf,
  printDwell,
} from './testing/expect.ts';
import { tiny } from './shapes.ts';

const ON_DEMAND_HOLD_CYCLES = 5;
const SPOT_HOLD_CYCLES = 2;
const shortHolds = {
  onDemandHoldMs: ON_DEMAND_HOLD_CYCLES * CYCLE_PERIOD_MS,
  spotHoldMs: SPOT_HOLD_CYCLES * CYCLE_PERIOD_MS,
};

/** Demand is covered, and one of each kind of capacity lies idle beside it. */
const surplus: LoopPlan = {
  name: 'idle-release',
  releasePolicy: shortHolds,
  clusters: equalClusters(2, [{ shape: tiny, objects: 1, replicas: 40 }]),
  seeds: [
    {
      shape: tiny,
      density: 10,
      configuredPerCluster: 4,
      idle: [
        { count: 2 },
        { count: 2, capacityType: CapacityType.Reserved, pricePerHour: 0.5 },
        { count: 3, capacityType: CapacityType.OnDemand, pricePerHour: 1 },
        {
          count: 2,
          capacityType: CapacityType.Spot,
          pricePerHour: 0.3,
          interruptionProbability: 0.1,
        },
      ],
    },
  ],
};

for (const { name, decide } of deciders) {
  for (const deleteDwellCycles of [0, 1, 4]) {
    test(`surplus is deleted once, at its hold (${name}, delete ${deleteDwellCycles})`, () => {
      const loop = new ClosedLoop({ ...surplus, deleteDwellCycles }, { decide }).run(60);
      expectConverged(loop, 40);
      expectTotal(loop, 'churn', 5);
      const deletes = loop.actions
        .filter(({ kind }) => kind === ActionKind.Delete)
        .map(({ cycle, machineId }) => `${cycle} ${machineId}`);
      expectEqual(
        loop,
        deletes,
        [
          '2 tiny-stateless-idle4-001',
          '2 tiny-stateless-idle4-002',
          '5 tiny-stateless-idle3-001',
          '5 tiny-stateless-idle3-002',
          '5 tiny-stateless-idle3-003',
        ],
        'deletes',
      );
      expectEqual(loop, statesOf(loop, 'idle1'), ['Idle'], 'bare metal');
      expectEqual(loop, statesOf(loop, 'idle2'), ['Idle'], 'reserved');
      expectEqual(loop, statesOf(loop, 'idle3'), ['Speculative'], 'on demand');
      expectEqual(loop, statesOf(loop, 'idle4'), ['Speculative'], 'spot');
    });
  }

  for (const dwell of DWELLS) {
    const under = `${name}, ${printDwell(dwell)}`;
    test(`burst, shrink, reclaim, hold, delete of elastic only (${under})`, () => {
      const loop = new ClosedLoop({ ...burst, ...dwell }, { decide }).run(180);
      expectConverged(loop, 50);
      // Twelve machines beyond the eight: the three owned, five of spot, four on demand.
      expectTotal(loop, 'provisions', 9);
      expectTotal(loop, 'reclaims', 12);
      expectTotal(loop, 'deletes', 9);
      expectTotal(loop, 'preempts', 0);
      const last = lastOf(loop);
      expectEqual(loop, [last.configured, last.boundPods, last.shortfalls], [8, 80, 0], 'the end');
      const afterShrink = loop.stats.filter(({ cycle }) => cycle >= SHRINK_CYCLE);
      const bought = total(afterShrink, 'provisions') + total(afterShrink, 'bootstraps');
      expectEqual(loop, bought, 0, 'acquisitions after the shrink');
      expectEqual(loop, statesOf(loop, 'idle'), ['Idle'], 'owned capacity');
      expectEqual(loop, statesOf(loop, 'spec'), ['Speculative'], 'elastic capacity');
      expectHolds(loop, dwell.drainDwellCycles);
    });
  }
}

const SHRINK_CYCLE = 40;

/** With the production holds: 60 cycles on demand, 6 for spot. */
const burst: LoopPlan = {
  name: 'burst-and-shrink',
  rollupArrivalStamps: true,
  clusters: equalClusters(2, [{ shape: tiny, objects: 1, replicas: 40 }]),
  seeds: [
    {
      shape: tiny,
      density: 10,
      configuredPerCluster: 4,
      idle: [{ count: 2 }, { count: 1, capacityType: CapacityType.Reserved, pricePerHour: 0.5 }],
      speculative: [
        { count: 10 },
        {
          count: 5,
          capacityType: CapacityType.Spot,
          pricePerHour: 0.3,
          interruptionProbability: 0.001,
        },
      ],
    },
  ],
  scales: [
    { cycle: 10, shape: tiny.name, replicas: 100 },
    { cycle: SHRINK_CYCLE, shape: tiny.name, replicas: 40 },
  ],
};

/** A machine is idle from the end of its drain; the hold runs from there. */
function expectHolds(loop: ClosedLoop, drainCycles: number): void {
  for (const { kind, cycle, machineId } of loop.actions) {
    if (kind !== ActionKind.Delete) continue;
    const reclaim = loop.actions.find(
      (action) => action.kind === ActionKind.Reclaim && action.machineId === machineId,
    );
    const idleFrom = (reclaim?.cycle ?? 0) + (drainCycles === 0 ? 0 : drainCycles + 1);
    const hold = machineId.includes('spec2') ? 6 : 60;
    expectEqual(loop, cycle - idleFrom, hold, `hold of ${machineId}`);
  }
  expectTrue(loop, loop.actions.length > 0, 'nothing happened');
}

function statesOf(loop: ClosedLoop, tier: string): string[] {
  const states = loop.provider
    .list()
    .filter(({ id, state }) => id.includes(`-${tier}`) && state !== State.Configured)
    .map(({ state }) => stateName(state));
  return [...new Set(states)];
}

// Proves that effective cost alone routes work between a stable and a cheap, risky tier: by
// penalty, never by the label of the capacity, and never onto risk for pinned work.

import { test } from 'node:test';
import { bucketLabel, compareText } from '@bigfleet/base';
import { CapacityType, type CapacityTypeCode, State } from '@bigfleet/engine';
import { costRouting } from '../catalogue/cost-routing.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop, type LoopPlan } from './closed-loop.ts';
import type { Tier } from './seed-machines.ts';
import { type Shape, shapeOf } from './shape.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  lastOf,
  printDwell,
} from './testing/expect.ts';

const [tolerant, sensitive] = costRouting.archetypes.map(shapeOf) as [Shape, Shape];
const pinned: Shape = {
  ...sensitive,
  name: 'pinned',
  interruptionPenaltyDollars: Number.POSITIVE_INFINITY,
};

const DENSITY = 10;
const MACHINES_EACH = 4;
const stable: Tier = { count: 6, pricePerHour: 1, interruptionProbability: 0.05 };
const cheap: Tier = { count: 6, pricePerHour: 0.3, interruptionProbability: 0.3 };

function plan(
  name: string,
  shapes: readonly Shape[],
  tiers: Partial<LoopPlan['seeds'][0]>,
): LoopPlan {
  return {
    name,
    rollupArrivalStamps: true,
    clusters: shapes.map((shape) => ({
      id: shape.name,
      workloads: [{ shape, objects: 1, replicas: MACHINES_EACH * DENSITY }],
    })),
    seeds: [{ shape: tolerant, density: DENSITY, ...tiers }],
  };
}

/** Configured machines per cluster and published probability. */
function routing(loop: ClosedLoop): Record<string, number> {
  const counts = new Map<string, number>();
  for (const machine of loop.provider.list()) {
    if (machine.state !== State.Configured) continue;
    const key = `${machine.cluster} on p ${machine.interruptionProbability}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => compareText(a, b)));
}

function expectRouting(loop: ClosedLoop, want: Record<string, number>): void {
  expectEqual(loop, JSON.stringify(routing(loop)), JSON.stringify(want), 'routing');
}

const labels: readonly (readonly [CapacityTypeCode, CapacityTypeCode])[] = [
  [CapacityType.OnDemand, CapacityType.Spot],
  [CapacityType.Spot, CapacityType.OnDemand],
  [CapacityType.Reserved, CapacityType.Reserved],
];

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    const under = `${name}, ${printDwell(dwell)}`;

    for (const [stableType, cheapType] of labels) {
      test(`two speculative tiers, labelled ${stableType}/${cheapType} (${under})`, () => {
        const speculative = [
          { ...stable, capacityType: stableType },
          { ...cheap, capacityType: cheapType },
        ];
        const loop = new ClosedLoop(
          { ...plan('cost-routing', [tolerant, sensitive], { speculative }), ...dwell },
          { decide },
        ).run(60);
        expectConverged(loop, 40);
        expectRouting(loop, {
          'interruption-sensitive on p 0.05': MACHINES_EACH,
          'interruption-tolerant on p 0.3': MACHINES_EACH,
        });
        expectStamps(loop);
      });
    }

    test(`the cheap tier idles: expensive work passes it over (${under})`, () => {
      const tiers = { idle: [{ ...cheap, count: 6 }], speculative: [{ ...stable, count: 6 }] };
      const loop = new ClosedLoop(
        { ...plan('cost-routing-idle', [tolerant, sensitive], tiers), ...dwell },
        { decide },
      ).run(60);
      expectConverged(loop, 40);
      expectRouting(loop, {
        'interruption-sensitive on p 0.05': MACHINES_EACH,
        'interruption-tolerant on p 0.3': MACHINES_EACH,
      });
    });

    test(`the stable tier is used up: expensive work takes idle risk (${under})`, () => {
      const tiers = { idle: [{ ...cheap, count: 6 }], speculative: [{ ...stable, count: 3 }] };
      const loop = new ClosedLoop(
        { ...plan('cost-routing-used-up', [tolerant, sensitive], tiers), ...dwell },
        { decide },
      ).run(60);
      expectConverged(loop, 40);
      expectRouting(loop, {
        'interruption-sensitive on p 0.05': 3,
        'interruption-sensitive on p 0.3': 1,
        'interruption-tolerant on p 0.3': MACHINES_EACH,
      });
    });

    test(`pinned work never lands on risk and stays short instead (${under})`, () => {
      const certain = { ...stable, interruptionProbability: 0, count: 2 };
      const tiers = { idle: [{ ...cheap, count: 6 }], speculative: [stable, certain] };
      const loop = new ClosedLoop(
        { ...plan('cost-routing-pinned', [pinned], tiers), ...dwell },
        { decide },
      ).run(60);
      expectConverged(loop, 40);
      expectRouting(loop, { 'pinned on p 0': 2 });
      expectEqual(loop, lastOf(loop).shortfalls, 1, 'shortfalls');
      expectEqual(loop, lastOf(loop).pendingPods, 2 * DENSITY, 'pending Pods');
      expectTotal(loop, 'preempts', 0);
    });
  }
}

/** Machines carry the bucket of the work they were bought for. */
function expectStamps(loop: ClosedLoop): void {
  const stamps = new Set<string>();
  for (const { state, cluster, assigned } of loop.provider.list()) {
    if (state !== State.Configured) continue;
    stamps.add(`${cluster}: ${bucketLabel(assigned.interruptionBucket)}`);
  }
  const want = ['interruption-sensitive: 8', 'interruption-tolerant: 0'];
  expectEqual(loop, [...stamps].sort(), want, 'stamps');
}

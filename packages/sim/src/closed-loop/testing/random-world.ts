// Random closed-loop worlds: plain and gang workloads of one priority over owned, idle, on-demand
// and spot machines, scarce or not, with random dwells and layouts. A world is its number.

import { createRandom } from '@bigfleet/base';
import { CapacityType } from '@bigfleet/engine';
import { uniformInt } from '../../catalogue/distributions.ts';
import { SCENARIO_SEED } from '../../seeds.ts';
import type { ClusterPlan, LoopPlan } from '../closed-loop.ts';
import type { ShapeSeed } from '../seed-machines.ts';
import type { Shape, Workload } from '../shape.ts';
import { cacheGang, gpuGang, service, tiny } from '../shapes.ts';

const PRIORITY = 1000;
const zoneGang: Shape = { ...gpuGang, name: 'zone-gang', same: 'zone' };
const workloadShapes: readonly Shape[] = [tiny, service, gpuGang, cacheGang, zoneGang];
const machineShapes: readonly Shape[] = [tiny, service, gpuGang, cacheGang];
const spot = {
  capacityType: CapacityType.Spot,
  pricePerHour: 0.3,
  interruptionProbability: 0.1,
} as const;

export interface RandomWorld {
  readonly plan: LoopPlan;
  readonly seed: bigint;
  /** Gangs of two topology keys share the hardware of one cluster (docs/adr/0064). */
  readonly hasRivalGangs: boolean;
}

export function randomWorld(world: number): RandomWorld {
  const random = createRandom(SCENARIO_SEED).stream(`world ${world}`);
  const upTo = (most: number): number => uniformInt(random, 0, most);
  const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
  const workload = (shape: Shape): Workload => ({
    shape: {
      ...shape,
      priority: PRIORITY,
      interruptionPenaltyDollars: oneOf([0, 8, 1024]),
      reclamationPenaltyDollars: oneOf([0, 64, 8192]),
    },
    objects: shape.same === undefined ? 1 : 1 + upTo(2),
    replicas: shape.same === undefined ? 5 + upTo(35) : 2 + upTo(4),
  });
  const seedOf = (shape: Shape): ShapeSeed => ({
    shape,
    density: shape === gpuGang ? 1 : 3 + upTo(7),
    configuredPerCluster: upTo(4),
    racksPerZone: 1 + upTo(2),
    contiguousRackBlock: upTo(5),
    idle: [{ count: upTo(5) }, { count: upTo(3), ...spot }],
    speculative: [{ count: upTo(12) }, { count: upTo(6), ...spot }],
  });
  const plan: LoopPlan = {
    name: `random-world-${world}`,
    clusters: Array.from({ length: 1 + upTo(3) }, (_, at) => ({
      id: `cluster-${at + 1}`,
      workloads: workloadShapes.filter(() => upTo(2) > 0).map(workload),
    })),
    seeds: machineShapes.map(seedOf),
    provisionDwellCycles: upTo(4),
    bootstrapDwellCycles: upTo(4),
    drainDwellCycles: upTo(4),
    rollupArrivalStamps: upTo(1) === 0,
    stampSeededGangAttribution: upTo(1) === 0,
    releasePolicy: { onDemandHoldMs: 0, spotHoldMs: 0 },
  };
  return { plan, seed: SCENARIO_SEED, hasRivalGangs: plan.clusters.some(hasRivals) };
}

function hasRivals({ workloads }: ClusterPlan): boolean {
  const names = workloads.map(({ shape }) => shape.name);
  return names.includes(gpuGang.name) && names.includes(zoneGang.name);
}

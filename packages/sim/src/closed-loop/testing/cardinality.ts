// The many-gangs world: 20 clusters with 129 needs each at full size, almost all of them Same. Cost
// follows the number of needs, so this is what a cycle must be fast on.

import { equalClusters, type LoopPlan } from '../closed-loop.ts';
import { cacheGang, gpuGang, service, tiny } from '../shapes.ts';

export interface Cardinality {
  readonly clusters: number;
  readonly cacheGangs: number;
  readonly gpuGangs: number;
}

/** 20 × (2 + 95 + 32) = 2,580 needs over some five thousand machines. */
export const fullCardinality: Cardinality = { clusters: 20, cacheGangs: 95, gpuGangs: 32 };
/** What a quadratic oracle finishes in seconds. */
export const reducedCardinality: Cardinality = { clusters: 3, cacheGangs: 6, gpuGangs: 3 };

const CACHE_GANG = 4;
const GPU_GANG = 5;
const DENSITY = 10;

export function needCountOf({ clusters, cacheGangs, gpuGangs }: Cardinality): number {
  return clusters * (2 + cacheGangs + gpuGangs);
}

/** Every cluster starts one cache machine and one gang short, so that there is work to finish. */
export function cardinalityPlan({ clusters, cacheGangs, gpuGangs }: Cardinality): LoopPlan {
  const cacheMachines = Math.ceil((cacheGangs * CACHE_GANG) / DENSITY);
  const gpuMachines = gpuGangs * GPU_GANG;
  return {
    name: 'cardinality',
    rollupArrivalStamps: true,
    stampSeededGangAttribution: true,
    provisionDwellCycles: 2,
    bootstrapDwellCycles: 1,
    drainDwellCycles: 1,
    clusters: equalClusters(clusters, [
      { shape: tiny, objects: 1, replicas: 100 },
      { shape: service, objects: 1, replicas: 50 },
      { shape: cacheGang, objects: cacheGangs, replicas: CACHE_GANG },
      { shape: gpuGang, objects: gpuGangs, replicas: GPU_GANG },
    ]),
    seeds: [
      { shape: tiny, density: DENSITY, configuredPerCluster: 10 },
      { shape: service, density: DENSITY, configuredPerCluster: 5 },
      {
        shape: cacheGang,
        density: DENSITY,
        configuredPerCluster: cacheMachines - 1,
        // One rack holds them all: packing gangs into racks is the scheduler's problem, not ours.
        contiguousRackBlock: clusters * (cacheMachines + 2),
        idle: [{ count: clusters }],
        speculative: [{ count: clusters }],
      },
      {
        shape: gpuGang,
        density: 1,
        configuredPerCluster: gpuMachines - GPU_GANG,
        racksPerZone: Math.ceil((clusters * gpuGangs) / 30) + 1,
        contiguousRackBlock: GPU_GANG,
        idle: [{ count: clusters * GPU_GANG }],
        speculative: [{ count: clusters * GPU_GANG }],
      },
    ],
  };
}

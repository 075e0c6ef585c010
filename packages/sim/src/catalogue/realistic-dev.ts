// `realistic-dev`: the names and shapes of `realistic` with flattened weights, so that a fleet
// of some fifty machines draws every demand path in every run. For coverage, never for realism.

import {
  cpuBatch,
  cpuService,
  criticalRealtime,
  gpuInference,
  gpuTrainingMedium,
  gpuTrainingSmall,
  memoryCache,
  statefulDb,
  tinyStateless,
} from './realistic.ts';
import type { Archetype, Catalogue } from './schema.ts';

/** One GPU per machine and one Pod per GPU. */
const oneGpuInference: Archetype = {
  ...gpuInference,
  weight: 5,
  podsPerNode: 1,
  instanceTypes: ['a3-highgpu-1g', 'a2-highgpu-1g'],
};

const { sameRack: _rack, ...mediumShape } = gpuTrainingMedium;

export const realisticDev: Catalogue = {
  name: 'realistic-dev',
  archetypes: [
    { ...tinyStateless, weight: 40 },
    { ...cpuService, weight: 15 },
    { ...cpuBatch, weight: 10 },
    { ...memoryCache, weight: 8 },
    { ...statefulDb, weight: 8 },
    oneGpuInference,
    { ...gpuTrainingSmall, weight: 8, groupSizeRange: [2, 4] },
    { ...mediumShape, weight: 6, sameZone: true, groupSizeRange: [4, 8] },
    { ...criticalRealtime, weight: 3 },
  ],
};

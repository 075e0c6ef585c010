// The `realistic` catalogue, calibrated on machines: weight ∝ machine share × Pods per node ÷
// expected replicas. Calibrating on Pods would turn a 7 % share of GPU Pods into a fleet of 90 %
// GPU machines, because a whole-machine gang Pod is a machine while a hundred small Pods share
// one. A test pins the realised machine mix.

import { type Archetype, type Catalogue, type QuantityMap, ZONE_KEY } from './schema.ts';

export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

export function core(cpu: string, memory: string): QuantityMap {
  return { cpu, memory };
}

export function gpu(cpu: string, memory: string, count: string): QuantityMap {
  return { cpu, memory, 'nvidia.com/gpu': count };
}

type Spread = Pick<Archetype, 'spreadConstraintProb' | 'spreadConstraint'>;

/** Over zones, which is what real fleets spread over. */
function spread(
  probability: number,
  maxSkew: number,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
): Spread {
  return {
    spreadConstraintProb: probability,
    spreadConstraint: { topologyKey: ZONE_KEY, maxSkew, whenUnsatisfiable },
  };
}

type Penalties = Pick<Archetype, 'interruptionPenaltyDollars' | 'reclamationPenaltyDollars'>;

function penalties(interruption: number, reclamation: number): Penalties {
  return { interruptionPenaltyDollars: interruption, reclamationPenaltyDollars: reclamation };
}

const common = { zones: ZONES, meanLifetimeSeconds: 0 } as const;

export const tinyStateless: Archetype = {
  ...common,
  name: 'tiny-stateless',
  weight: 16073,
  podsPerNode: 100,
  instanceTypes: ['m6i.large', 'm6i.xlarge'],
  sizeBuckets: [
    { weight: 60, resources: core('400m', '500Mi') },
    { weight: 40, resources: core('300m', '384Mi') },
  ],
  priorityClasses: [100],
  ...penalties(32, 64),
  ...spread(0.45, 2, 'ScheduleAnyway'),
};

export const cpuService: Archetype = {
  ...common,
  name: 'cpu-service',
  weight: 2755,
  podsPerNode: 100,
  instanceTypes: ['m6i.xlarge', 'm6i.2xlarge'],
  sizeBuckets: [
    { weight: 70, resources: core('2200m', '8500Mi') },
    { weight: 30, resources: core('4200m', '16500Mi') },
  ],
  priorityClasses: [1000],
  ...penalties(1024, 8192),
  ...spread(0.75, 1, 'DoNotSchedule'),
};

export const cpuBatch: Archetype = {
  ...common,
  name: 'cpu-batch',
  weight: 1378,
  podsPerNode: 100,
  instanceTypes: ['c6i.4xlarge', 'c6i.8xlarge', 'n2-standard-32'],
  sizeBuckets: [
    { weight: 60, resources: core('4', '8Gi') },
    { weight: 40, resources: core('8', '16Gi') },
  ],
  priorityClasses: [100],
  ...penalties(64, 256),
  meanLifetimeSeconds: 600,
  ...spread(0.15, 2, 'ScheduleAnyway'),
};

export const memoryCache: Archetype = {
  ...common,
  name: 'memory-cache',
  weight: 2000,
  podsPerNode: 100,
  instanceTypes: ['r6i.xlarge', 'r6i.2xlarge'],
  resources: core('2', '16Gi'),
  priorityClasses: [1000],
  ...penalties(4096, 16384),
  sameRack: true,
  groupSizeRange: [3, 5],
  allowPartial: true,
};

export const statefulDb: Archetype = {
  ...common,
  name: 'stateful-db',
  weight: 2000,
  podsPerNode: 100,
  instanceTypes: ['r6i.2xlarge', 'r6i.4xlarge'],
  resources: core('8', '32Gi'),
  priorityClasses: [1000],
  ...penalties(8192, 32768),
  sameRack: true,
  groupSizeRange: [3, 5],
  allowPartial: true,
};

export const gpuInference: Archetype = {
  ...common,
  name: 'gpu-inference',
  weight: 100,
  podsPerNode: 8,
  instanceTypes: ['a3-highgpu-8g', 'a2-highgpu-8g'],
  resources: gpu('8', '32Gi', '1'),
  priorityClasses: [1000],
  ...penalties(4096, 8192),
  ...spread(0.5, 2, 'ScheduleAnyway'),
};

export const gpuTrainingSmall: Archetype = {
  ...common,
  name: 'gpu-training-small',
  weight: 32,
  podsPerNode: 1,
  instanceTypes: ['a3-highgpu-8g'],
  resources: gpu('64', '256Gi', '8'),
  priorityClasses: [1000],
  ...penalties(16384, 32768),
  sameRack: true,
  groupSizeRange: [2, 8],
};

export const gpuTrainingMedium: Archetype = {
  ...common,
  name: 'gpu-training-medium',
  weight: 18,
  podsPerNode: 1,
  instanceTypes: ['a3-highgpu-8g'],
  resources: gpu('64', '256Gi', '8'),
  priorityClasses: [1000],
  ...penalties(32768, 65536),
  sameRack: true,
  groupSizeRange: [8, 16],
};

/** Zone-scoped: a rack gang is capped at what a rack holds. */
const gpuTrainingLarge: Archetype = {
  ...common,
  name: 'gpu-training-large',
  weight: 1,
  podsPerNode: 1,
  instanceTypes: ['a3-highgpu-8g'],
  resources: gpu('128', '512Gi', '8'),
  priorityClasses: [1000],
  ...penalties(65536, 131072),
  sameZone: true,
  groupSizeRange: [64, 256],
  burstOnly: true,
};

export const criticalRealtime: Archetype = {
  ...common,
  name: 'critical-realtime',
  weight: 230,
  podsPerNode: 100,
  instanceTypes: ['c6i.4xlarge', 'm6i.2xlarge'],
  resources: core('4', '8Gi'),
  priorityClasses: [1_000_000],
  ...penalties(65536, 65536),
  ...spread(1, 1, 'DoNotSchedule'),
};

export const realistic: Catalogue = {
  name: 'realistic',
  archetypes: [
    tinyStateless,
    cpuService,
    cpuBatch,
    memoryCache,
    statefulDb,
    gpuInference,
    gpuTrainingSmall,
    gpuTrainingMedium,
    gpuTrainingLarge,
    criticalRealtime,
  ],
};

/** Percent of the machines that each archetype's demand fills: what the weights were solved for. */
export const REALISTIC_MACHINE_PERCENT: Readonly<Record<string, number>> = {
  'tiny-stateless': 66.4,
  'cpu-service': 11.4,
  'cpu-batch': 5.7,
  'memory-cache': 1.5,
  'stateful-db': 1.5,
  'gpu-inference': 5.2,
  'gpu-training-small': 3.1,
  'gpu-training-medium': 4.2,
  'gpu-training-large': 0,
  'critical-realtime': 0.95,
};

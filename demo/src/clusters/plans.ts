// Who lives in the demo: three clusters with different tastes, each a list of archetypes of the
// workload catalogue, at one of the two shards. One waits for a machine type that nobody sells, as
// one always does, and one for a type that only the other shard owns.

import { type Archetype, isGang, realisticDev } from '@bigfleet/sim';
import { assert } from '@bigfleet/base';
import { METAL_TYPE, type ShardName } from '../places.ts';

export interface PlannedWorkload {
  readonly archetype: Archetype;
  readonly objectCount: number;
}

export interface ClusterPlan {
  readonly id: string;
  readonly shard: ShardName;
  readonly workloads: readonly PlannedWorkload[];
}

export type WorkloadKind = 'service' | 'batch' | 'gang';

export function kindOf(archetype: Archetype): WorkloadKind {
  if (isGang(archetype)) return 'gang';
  return archetype.meanLifetimeSeconds > 0 ? 'batch' : 'service';
}

const nextGeneration: Archetype = {
  ...archetypeOf('gpu-inference'),
  name: 'gpu-next-generation',
  instanceTypes: ['b300-highgpu-8g'],
  priorityClasses: [100],
};

/** Jobs that outlive the demo: what was moved for them stays in use. */
const onMetal: Archetype = {
  name: 'metal-analytics',
  weight: 1,
  zones: archetypeOf('cpu-batch').zones,
  instanceTypes: [METAL_TYPE],
  resources: { cpu: '20', memory: '80Gi' },
  priorityClasses: [1_000],
  interruptionPenaltyDollars: 64,
  reclamationPenaltyDollars: 256,
  meanLifetimeSeconds: 1e9,
};

export const clusterPlans: readonly ClusterPlan[] = [
  {
    id: 'web-eu',
    shard: 'shard-0',
    workloads: [
      planned('tiny-stateless', 3),
      planned('cpu-service', 2),
      planned('critical-realtime', 1),
      planned('memory-cache', 1),
    ],
  },
  {
    id: 'batch-us',
    shard: 'shard-1',
    workloads: [planned('cpu-batch', 4), planned('tiny-stateless', 2), planned('stateful-db', 1)],
  },
  {
    id: 'train-us',
    shard: 'shard-0',
    workloads: [
      planned('gpu-training-small', 1),
      planned('gpu-training-medium', 1),
      planned('gpu-inference', 1),
      { archetype: nextGeneration, objectCount: 1 },
      { archetype: onMetal, objectCount: 3 },
    ],
  },
];

function planned(name: string, objectCount: number): PlannedWorkload {
  return { archetype: archetypeOf(name), objectCount };
}

function archetypeOf(name: string): Archetype {
  const archetype = realisticDev.archetypes.find((candidate) => candidate.name === name);
  assert(archetype !== undefined, 'the catalogue has no such archetype', { name });
  return archetype;
}

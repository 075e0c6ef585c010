// Who lives in the demo: three clusters with different tastes, each a list of archetypes of the
// workload catalogue. One of them waits for a machine type that nobody sells, as one always does.

import { type Archetype, isGang, realisticDev } from '@bigfleet/sim';
import { assert } from '@bigfleet/base';

export interface PlannedWorkload {
  readonly archetype: Archetype;
  readonly objectCount: number;
}

export interface ClusterPlan {
  readonly id: string;
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

export const clusterPlans: readonly ClusterPlan[] = [
  {
    id: 'web-eu',
    workloads: [
      planned('tiny-stateless', 3),
      planned('cpu-service', 2),
      planned('critical-realtime', 1),
      planned('memory-cache', 1),
    ],
  },
  {
    id: 'batch-us',
    workloads: [planned('cpu-batch', 4), planned('tiny-stateless', 2), planned('stateful-db', 1)],
  },
  {
    id: 'train-us',
    workloads: [
      planned('gpu-training-small', 1),
      planned('gpu-training-medium', 1),
      planned('gpu-inference', 1),
      { archetype: nextGeneration, objectCount: 1 },
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

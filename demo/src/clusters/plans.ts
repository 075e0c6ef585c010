// Who lives in the demo: clusters of three tastes, each a list of archetypes of the workload catalogue. One
// waits for a machine type that nobody sells, as one always does, and one for a
// type that only the other shard owns.

import { type Archetype, isGang, type QuantityMap, realisticDev } from '@bigfleet/sim';
import { assert } from '@bigfleet/base';
import { CLUSTER_PLACES, type ClusterName, type ClusterTaste, METAL_TYPE } from '../places.ts';

export interface PlannedWorkload {
  readonly archetype: Archetype;
  readonly objectCount: number;
}

export interface ClusterPlan {
  readonly workloads: readonly PlannedWorkload[];
}

export type WorkloadKind = 'service' | 'batch' | 'gang';

export function kindOf(archetype: Archetype): WorkloadKind {
  if (isGang(archetype)) return 'gang';
  return archetype.meanLifetimeSeconds > 0 ? 'batch' : 'service';
}

/**
 * Sizes of the demo, in the place of the catalogue's: Pods of one kind fill the machines of their types to
 * the last core, and no other kind runs there. BigFleet covers demand by its sum; Pods that leave a rest on
 * every machine would wait beside a need that is covered, as they would wait for a scheduler anywhere.
 */
const fits: Readonly<Record<string, Fit>> = {
  'tiny-stateless': fit(['m6i.large', 'm6i.xlarge'], { cpu: '380m', memory: '1Gi' }),
  'cpu-service': fit(['m6i.2xlarge'], { cpu: '1900m', memory: '7Gi' }),
  'critical-realtime': fit(['c6i.4xlarge'], { cpu: '3800m', memory: '7Gi' }),
  'cpu-batch': fit(['c6i.8xlarge', 'n2-standard-32'], { cpu: '3800m', memory: '7Gi' }),
  'memory-cache': fit(['r6i.xlarge', 'r6i.2xlarge'], { cpu: '1900m', memory: '14Gi' }),
  'gpu-inference': fit(['a2-highgpu-1g'], { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '1' }),
  'stateful-db': fit(['r6i.4xlarge'], { cpu: '7600m', memory: '58Gi' }),
};

type Fit = Pick<Archetype, 'instanceTypes'> & { readonly resources: QuantityMap };

function fit(instanceTypes: readonly string[], resources: QuantityMap): Fit {
  return { instanceTypes, resources };
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
  resources: { cpu: '19', memory: '74Gi' },
  priorityClasses: [1_000],
  interruptionPenaltyDollars: 64,
  reclamationPenaltyDollars: 256,
  meanLifetimeSeconds: 1e9,
};

const planOfTaste: Readonly<Record<ClusterTaste, ClusterPlan>> = {
  web: {
    workloads: [
      planned('tiny-stateless', 3),
      planned('cpu-service', 2),
      planned('critical-realtime', 1),
      planned('memory-cache', 1),
    ],
  },
  batch: {
    workloads: [planned('cpu-batch', 4), planned('tiny-stateless', 2), planned('stateful-db', 1)],
  },
  train: {
    workloads: [
      planned('gpu-training-small', 1),
      planned('gpu-training-medium', 1),
      planned('gpu-inference', 1),
      { archetype: nextGeneration, objectCount: 1 },
      { archetype: onMetal, objectCount: 3 },
    ],
  },
};

export function planOf(cluster: ClusterName): ClusterPlan {
  return planOfTaste[CLUSTER_PLACES[cluster].taste];
}

function planned(name: string, objectCount: number): PlannedWorkload {
  return { archetype: archetypeOf(name), objectCount };
}

function archetypeOf(name: string): Archetype {
  const found = realisticDev.archetypes.find((candidate) => candidate.name === name);
  assert(found !== undefined, 'the catalogue has no such archetype', { name });
  const { sizeBuckets: _buckets, ...archetype } = found;
  const own = fits[name];
  return own === undefined ? found : { ...archetype, ...own };
}

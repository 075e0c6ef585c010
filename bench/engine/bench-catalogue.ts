// The six archetypes of the first scale tests, for uber-5k-* and phase1/realistic-50k only. An
// object draws one instance type and one size; the catalogue of production shape is `realistic`.

import { bucketOfDollars, ZERO_BUCKET, type PenaltyBucket } from '@bigfleet/base';
import { createProfile, Operator, type Profile, type Resources, ZONE_KEY } from '@bigfleet/engine';
import { typeIn } from './cycle-fleet.ts';
import { RACK_KEY } from './fleet.ts';
import { largest, resources } from './resources.ts';

export interface BenchArchetype {
  readonly name: string;
  readonly weight: number;
  readonly types: readonly string[];
  readonly zones: readonly string[];
  readonly units: readonly Resources[];
  readonly priorities: readonly number[];
  readonly isGang: boolean;
}

const THREE_ZONES = ['zone-a', 'zone-b', 'zone-c'];
const gpu = (count: number): Resources => resources({ 'nvidia.com/gpu': String(count) });
const core = (cpu: number, memory: number): Resources =>
  resources({ cpu: String(cpu), memory: `${memory}Gi` });

export const benchArchetypes: readonly BenchArchetype[] = [
  {
    name: 'gpu-training',
    weight: 5,
    types: ['a3-highgpu-8g'],
    zones: THREE_ZONES,
    units: [gpu(8), gpu(16)],
    priorities: [1_000],
    isGang: true,
  },
  {
    name: 'gpu-inference',
    weight: 15,
    types: ['a3-highgpu-1g', 'a2-highgpu-1g'],
    zones: THREE_ZONES,
    units: [gpu(1), gpu(2)],
    priorities: [100, 1_000],
    isGang: false,
  },
  {
    name: 'cpu-batch',
    weight: 35,
    types: ['c6i.4xlarge', 'c6i.8xlarge', 'n2-standard-32'],
    zones: THREE_ZONES,
    units: [core(4, 8), core(8, 16), core(16, 32), core(32, 64)],
    priorities: [100],
    isGang: false,
  },
  {
    name: 'cpu-service',
    weight: 30,
    types: ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge'],
    zones: THREE_ZONES,
    units: [core(2, 8), core(4, 16), core(8, 32), core(16, 64)],
    priorities: [1_000],
    isGang: false,
  },
  {
    name: 'memory-db',
    weight: 10,
    types: ['r6i.xlarge', 'r6i.2xlarge'],
    zones: ['zone-a', 'zone-b'],
    units: [core(4, 32), core(4, 64), core(8, 128)],
    priorities: [1_000],
    isGang: true,
  },
  {
    name: 'critical-realtime',
    weight: 5,
    types: ['c6i.4xlarge', 'm6i.2xlarge'],
    zones: THREE_ZONES,
    units: [core(8, 16), core(16, 32)],
    priorities: [1_000_000],
    isGang: false,
  },
];

/** What every unit of the archetype fits on. */
export function largestUnit({ units }: BenchArchetype): Resources {
  return largest(units);
}

const STATEFUL_PENALTY: PenaltyBucket = bucketOfDollars(1_024);

export function benchProfile(
  archetype: BenchArchetype,
  type: string,
  priority: number,
  isGang: boolean,
): Profile {
  return createProfile({
    requirements: [
      typeIn(type),
      { key: ZONE_KEY, operator: Operator.In, values: archetype.zones },
      ...(isGang ? [{ key: RACK_KEY, operator: Operator.Same, values: [] }] : []),
    ],
    spread: [],
    priority,
    interruptionBucket: archetype.isGang ? STATEFUL_PENALTY : ZERO_BUCKET,
    reclamationBucket: archetype.isGang ? STATEFUL_PENALTY : ZERO_BUCKET,
  });
}

// The gang mix of the 5k ladder: per cluster one row of tiny Pods, one of services, 95 cache gangs
// of 4 (they share machines) and 32 GPU gangs of 5 (a machine per Pod): 129 rows, 98 % of them
// gangs. Machine sizes are those of the catalogue `realistic`. Bound machines fill each archetype's
// racks in blocks, the way a provider racks them.

import { bucketOfDollars } from '@bigfleet/base';
import {
  CapacityType,
  createProfile,
  type Need,
  noAssignment,
  Operator,
  type Profile,
  type Resources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { largestRemainder } from '@bigfleet/sim';
import { typeIn, ZONES } from './cycle-fleet.ts';
import { clusterNames, type Fleet, flat, RACK_KEY, type SeedFleet } from './fleet.ts';
import { resources, times } from './resources.ts';

interface Kind {
  readonly name: string;
  readonly types: readonly string[];
  readonly pod: Resources;
  readonly podsPerMachine: number;
  readonly priority: number;
  readonly penalties: readonly [interruption: number, reclamation: number];
  /** 0 for rows that are no gang. */
  readonly gangSize: number;
}

const kinds = {
  tiny: {
    name: 'tiny',
    types: ['m6i.large', 'm6i.xlarge'],
    pod: resources({ cpu: '400m', memory: '500Mi' }),
    podsPerMachine: 100,
    priority: 100,
    penalties: [32, 64],
    gangSize: 0,
  },
  service: {
    name: 'service',
    types: ['m6i.2xlarge'],
    pod: resources({ cpu: '2200m', memory: '8500Mi' }),
    podsPerMachine: 100,
    priority: 1_000,
    penalties: [1_024, 8_192],
    gangSize: 0,
  },
  cache: {
    name: 'cache',
    types: ['r6i.xlarge', 'r6i.2xlarge'],
    pod: resources({ cpu: '2', memory: '16Gi' }),
    podsPerMachine: 100,
    priority: 1_000,
    penalties: [4_096, 16_384],
    gangSize: 4,
  },
  training: {
    name: 'training',
    types: ['a3-highgpu-8g'],
    pod: resources({ cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '8' }),
    podsPerMachine: 1,
    priority: 1_000,
    penalties: [16_384, 32_768],
    gangSize: 5,
  },
} as const satisfies Record<string, Kind>;

export interface GangMix {
  readonly clusters: number;
  readonly tinyPods: number;
  readonly servicePods: number;
  readonly cacheGangs: number;
  readonly trainingGangs: number;
  readonly configuredPerCluster: number;
  readonly idle: number;
  readonly speculative: number;
  readonly racksPerKind: number;
  /** Neighbours in one rack before the next rack begins. */
  readonly rackBlock: number;
}

export function seedGangMix(mix: GangMix): SeedFleet {
  return (fleet) => {
    const names = clusterNames(mix.clusters);
    const all: readonly Kind[] = [kinds.tiny, kinds.service, kinds.cache, kinds.training];
    const share = all.map((kind) => podsOf(mix, kind) / kind.podsPerMachine);
    const perCluster = largestRemainder(share, mix.configuredPerCluster);
    const idle = largestRemainder(share, mix.idle);
    const speculative = largestRemainder(share, mix.speculative);
    for (const [at, kind] of all.entries()) {
      for (const [ordinal, cluster] of names.entries()) {
        const count = perCluster[at]!;
        addTier(fleet, mix, {
          kind,
          state: State.Configured,
          count,
          first: ordinal * count,
          cluster,
        });
      }
      addTier(fleet, mix, { kind, state: State.Idle, count: idle[at]!, first: 0 });
      const bought = speculative[at]!;
      addTier(fleet, mix, { kind, state: State.Speculative, count: bought, first: 0 });
    }
    return () => {
      for (const cluster of names) fleet.demand(cluster, rollup(cluster, mix));
    };
  };
}

function podsOf(mix: GangMix, kind: Kind): number {
  if (kind === kinds.tiny) return mix.tinyPods;
  if (kind === kinds.service) return mix.servicePods;
  return kind.gangSize * (kind === kinds.cache ? mix.cacheGangs : mix.trainingGangs);
}

interface Tier {
  readonly kind: Kind;
  readonly state: StateCode;
  readonly count: number;
  readonly first: number;
  readonly cluster?: string;
}

function addTier(fleet: Fleet, mix: GangMix, { kind, state, count, first, cluster }: Tier): void {
  const { priority, interruptionBucket, reclamationBucket, fingerprint } = profileOf(kind);
  const needFingerprint = kind.gangSize === 0 ? fingerprint : '';
  const allocatable = times(kind.pod, kind.podsPerMachine);
  for (let at = 0; at < count; at++) {
    const rack = Math.floor((first + at) / mix.rackBlock) % mix.racksPerKind;
    const zone = ZONES[rack % ZONES.length] as string;
    fleet.add({
      state,
      instanceType: kind.types[at % kind.types.length] as string,
      zone,
      rack: flat(`${zone}-${kind.name}-${rack}`),
      allocatable,
      ...(cluster === undefined
        ? {}
        : {
            cluster,
            assigned: {
              ...noAssignment,
              priority,
              interruptionBucket,
              reclamationBucket,
              needFingerprint,
            },
          }),
      ...(state === State.Speculative
        ? { capacityType: CapacityType.OnDemand, pricePerHour: 1 }
        : {}),
    });
  }
}

const profiles = new Map<Kind, Profile>();

function profileOf(kind: Kind): Profile {
  let profile = profiles.get(kind);
  if (profile !== undefined) return profile;
  const same = { key: RACK_KEY, operator: Operator.Same, values: [] };
  const [interruption, reclamation] = kind.penalties;
  profile = createProfile({
    requirements: [typeIn(...kind.types), ...(kind.gangSize === 0 ? [] : [same])],
    spread: [],
    priority: kind.priority,
    interruptionBucket: bucketOfDollars(interruption),
    reclamationBucket: bucketOfDollars(reclamation),
  });
  profiles.set(kind, profile);
  return profile;
}

function rollup(cluster: string, mix: GangMix): Need[] {
  const row = (kind: Kind, pods: number, at: number): Need => ({
    cluster,
    profile: profileOf(kind),
    aggregate: times(kind.pod, pods),
    minUnit: kind.pod,
    group: kind.gangSize === 0 ? '' : flat(`${kind.name}-${at}`),
    arrivalUnixNanos: BigInt(1 + at) * 1_000_000_000n,
  });
  const gangs = (kind: Kind, count: number): Need[] =>
    Array.from({ length: count }, (_, at) => row(kind, kind.gangSize, at));
  return [
    row(kinds.tiny, mix.tinyPods, 0),
    row(kinds.service, mix.servicePods, 0),
    ...gangs(kinds.cache, mix.cacheGangs),
    ...gangs(kinds.training, mix.trainingGangs),
  ];
}

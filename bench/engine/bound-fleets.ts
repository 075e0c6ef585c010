// Fleets in which every machine is bound: what preemption and reclaim cost. Five machine types,
// each cluster holds the same number of each, and asks for them with one row per type (or, for
// three profiles over five types, one row per group of types).

import { ZERO_BUCKET } from '@bigfleet/base';
import { createProfile, type Need, noAssignment, type Profile, State } from '@bigfleet/engine';
import { MACHINE, TYPES, typeIn, ZONES } from './cycle-fleet.ts';
import { clusterNames, type Fleet } from './fleet.ts';
import { resources, times } from './resources.ts';

const UNIT = resources({ cpu: '1', memory: '1Gi' });

interface BoundCounts {
  readonly clusters: number;
  readonly perCluster: number;
}

function profileFor(types: readonly string[], priority: number): Profile {
  return createProfile({
    requirements: [typeIn(...types)],
    spread: [],
    priority,
    interruptionBucket: ZERO_BUCKET,
    reclamationBucket: ZERO_BUCKET,
  });
}

function needFor(cluster: string, profile: Profile, machines: number, at: number): Need {
  return {
    cluster,
    profile,
    aggregate: times(MACHINE, machines),
    minUnit: UNIT,
    group: '',
    arrivalUnixNanos: BigInt(1 + at),
  };
}

function addBound(
  fleet: Fleet,
  clusters: readonly string[],
  perCluster: number,
  profiles: readonly { readonly profile: Profile; readonly types: readonly string[] }[],
): void {
  const types = profiles.flatMap(({ profile, types: names }) =>
    names.map((name) => ({ name, profile })),
  );
  for (const cluster of clusters) {
    for (let at = 0; at < perCluster; at++) {
      const { name, profile } = types[at % types.length] as (typeof types)[number];
      fleet.add({
        state: State.Configured,
        instanceType: name,
        zone: ZONES[Math.floor(at / types.length) % ZONES.length] as string,
        allocatable: MACHINE,
        pricePerHour: 1 + (at % types.length),
        cluster,
        assigned: {
          ...noAssignment,
          priority: profile.priority,
          needFingerprint: profile.fingerprint,
        },
      });
    }
  }
}

export const INVERSIONS: BoundCounts & { readonly preemptors: number } = {
  clusters: 10,
  perCluster: 10_000,
  preemptors: 20,
};

/** 100,000 machines at work at priority 100; 100 needs of five machines at 1,000,000. */
export function seedInversions(fleet: Fleet): () => void {
  const names = clusterNames(INVERSIONS.clusters + INVERSIONS.preemptors);
  const held = names.slice(0, INVERSIONS.clusters);
  const low = TYPES.map((name) => ({ profile: profileFor([name], 100), types: [name] }));
  const high = TYPES.map((name) => profileFor([name], 1_000_000));
  addBound(fleet, held, INVERSIONS.perCluster, low);
  const perType = INVERSIONS.perCluster / TYPES.length;
  return () => {
    for (const cluster of held) {
      fleet.demand(
        cluster,
        low.map(({ profile }, at) => needFor(cluster, profile, perType, at)),
      );
    }
    for (const cluster of names.slice(INVERSIONS.clusters)) {
      fleet.demand(
        cluster,
        high.map((profile, at) => needFor(cluster, profile, 5, at)),
      );
    }
  };
}

export const HIGH_DEMAND: BoundCounts = { clusters: 50, perCluster: 10_000 };
const TYPE_GROUPS: readonly (readonly string[])[] = [
  TYPES.slice(0, 2),
  TYPES.slice(2, 4),
  TYPES.slice(4),
];

/** 500,000 machines, three profiles per cluster, demand one per cent below supply. */
export function seedHighDemand(fleet: Fleet): () => void {
  const names = clusterNames(HIGH_DEMAND.clusters);
  const profiles = TYPE_GROUPS.map((types, at) => ({
    profile: profileFor(types, 1_000 * (at + 1)),
    types,
  }));
  addBound(fleet, names, HIGH_DEMAND.perCluster, profiles);
  return () => {
    for (const cluster of names) {
      const needs = profiles.map(({ profile, types }, at) => {
        const supply = (HIGH_DEMAND.perCluster / TYPES.length) * types.length;
        return needFor(cluster, profile, supply * 0.99, at);
      });
      fleet.demand(cluster, needs);
    }
  };
}

export const SINGLE_SHAPE: BoundCounts & { readonly demanded: number } = {
  clusters: 50,
  perCluster: 9_000,
  demanded: 10_000,
};

/** 450,000 machines of one shape, every cluster asks for more than it has. */
export function seedSingleShape(fleet: Fleet): () => void {
  const names = clusterNames(SINGLE_SHAPE.clusters);
  const types = TYPES.slice(0, 1);
  const profile = profileFor(types, 1_000);
  addBound(fleet, names, SINGLE_SHAPE.perCluster, [{ profile, types }]);
  return () => {
    for (const cluster of names) {
      fleet.demand(cluster, [needFor(cluster, profile, SINGLE_SHAPE.demanded, 0)]);
    }
  };
}

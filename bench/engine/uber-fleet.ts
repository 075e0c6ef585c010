// uber-5k-late and uber-5k-unaggregated: 20 clusters × 250 Configured, 1,000 Idle (bare metal),
// 12,000 Speculative (on demand, $1) by bench-catalogue weight, 8 racks per archetype, a machine
// as big as 100 of its largest units. Late: 8 rows per cluster of 3,125 units each. Unaggregated:
// 12,500 rows of one unit, the roll-up that a count-per-Pod operator would send; a row claims a
// whole machine, so nearly all of it stays short.

import type { Random } from '@bigfleet/base';
import {
  type Assignment,
  CapacityType,
  type Need,
  type Profile,
  type Resources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { largestRemainder, weightedPick } from '@bigfleet/sim';
import {
  type BenchArchetype,
  benchArchetypes,
  benchProfile,
  largestUnit,
} from './bench-catalogue.ts';
import { clusterNames, type Fleet, flat, type SeedFleet } from './fleet.ts';
import { times } from './resources.ts';

type UberCount =
  | 'clusters'
  | 'configuredPerCluster'
  | 'idle'
  | 'speculative'
  | 'lateRows'
  | 'unaggregatedRows';

export const UBER: Readonly<Record<UberCount, number>> = {
  clusters: 20,
  configuredPerCluster: 250,
  idle: 1_000,
  speculative: 12_000,
  lateRows: 8,
  unaggregatedRows: 12_500,
};

const UNITS_PER_MACHINE = 100;
const RACKS = 8;
const LATE_UNITS = 3_125;
const weights = benchArchetypes.map(({ weight }) => weight);

export type DrawRollup = (cluster: string, random: Random) => Need[];

export function seedUber(rollup: DrawRollup): SeedFleet {
  return (fleet, random) => {
    const names = clusterNames(UBER.clusters);
    for (const cluster of names) {
      addTier(fleet, State.Configured, UBER.configuredPerCluster, cluster);
    }
    addTier(fleet, State.Idle, UBER.idle);
    addTier(fleet, State.Speculative, UBER.speculative);
    const draw = random.stream('demand');
    return () => {
      for (const cluster of names) fleet.demand(cluster, rollup(cluster, draw));
    };
  };
}

/** Machines by catalogue weight, each as big as this many of its largest units. */
export function addTier(
  fleet: Fleet,
  state: StateCode,
  total: number,
  cluster?: string,
  unitsPerMachine: number = UNITS_PER_MACHINE,
): void {
  const counts = largestRemainder(weights, total);
  for (const [at, archetype] of benchArchetypes.entries()) {
    const allocatable = times(largestUnit(archetype), unitsPerMachine);
    for (let ordinal = 0; ordinal < counts[at]!; ordinal++) {
      const type = archetype.types[ordinal % archetype.types.length] as string;
      const rack = ordinal % RACKS;
      const zone = archetype.zones[rack % archetype.zones.length] as string;
      fleet.add({
        state,
        instanceType: type,
        zone,
        rack: flat(`${zone}-${archetype.name}-${rack}`),
        allocatable,
        ...(cluster === undefined ? {} : { cluster, assigned: stamp(archetype, type) }),
        ...(state === State.Speculative
          ? { capacityType: CapacityType.OnDemand, pricePerHour: 1 }
          : {}),
      });
    }
  }
}

function stamp(archetype: BenchArchetype, type: string): Assignment {
  const priority = archetype.priorities[0]!;
  const { interruptionBucket, reclamationBucket, fingerprint } = profile(archetype, type, priority);
  const needFingerprint = archetype.isGang ? '' : fingerprint;
  return { priority, interruptionBucket, reclamationBucket, needFingerprint, group: '' };
}

const profiles = new Map<string, Profile>();

function profile(
  archetype: BenchArchetype,
  type: string,
  priority: number,
  isGang: boolean = archetype.isGang,
): Profile {
  const key = `${archetype.name}|${type}|${priority}|${isGang}`;
  let known = profiles.get(key);
  if (known === undefined) {
    known = benchProfile(archetype, type, priority, isGang);
    profiles.set(key, known);
  }
  return known;
}

/** Eight rows by weight; rows of one archetype ask for different types. */
export function lateRollup(cluster: string): Need[] {
  const counts = largestRemainder(weights, UBER.lateRows);
  return benchArchetypes.flatMap((archetype, at) =>
    Array.from({ length: counts[at]! }, (_, row) => {
      const unit = largestUnit(archetype);
      const type = archetype.types[row % archetype.types.length] as string;
      const priority = archetype.priorities[0]!;
      return {
        cluster,
        profile: profile(archetype, type, priority),
        aggregate: times(unit, LATE_UNITS),
        minUnit: unit,
        group: archetype.isGang ? flat(`${archetype.name}-${row}`) : '',
        arrivalUnixNanos: BigInt(1 + row) * 1_000_000_000n,
      };
    }),
  );
}

/** Rows of one unit each, kept apart by their group. */
export function unitRollup(rows: number, isAllGangs: boolean): DrawRollup {
  return (cluster, random) =>
    Array.from({ length: rows }, (_, at) => {
      const archetype = weightedPick(random, benchArchetypes);
      const unit = archetype.units[random.below(archetype.units.length)] as Resources;
      const type = archetype.types[random.below(archetype.types.length)] as string;
      const priority = archetype.priorities[random.below(archetype.priorities.length)]!;
      return {
        cluster,
        profile: profile(archetype, type, priority, isAllGangs || archetype.isGang),
        aggregate: unit,
        minUnit: unit,
        group: flat(`request-${at}`),
        arrivalUnixNanos: BigInt(1 + random.below(1_000_000)) * 1_000_000_000n,
      };
    });
}

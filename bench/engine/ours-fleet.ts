// ours-500k-5k: 500,000 machines of 33 types in 3 zones, 88.5 % Configured and 1.5 % Configuring in
// 5,000 clusters, 5 % Idle, 5 % Speculative. Machines of a cluster are drawn one by one, so a
// cluster holds about 90 of some 60 classes: 300,000 runs of 1.5 machines. Each cluster asks with
// some 17 rows, one per two types, for 98.5 to 100.5 % of what is bound: a quarter of the rows
// lack one machine.

import { bucketOfDollars, type Random } from '@bigfleet/base';
import {
  CapacityType,
  createProfile,
  type Machine,
  type Need,
  type Profile,
  type Resources,
  State,
} from '@bigfleet/engine';
import { typeIn, ZONES } from './cycle-fleet.ts';
import { clusterNames, type Fleet, type MachinePlan } from './fleet.ts';
import { plus, resources, times } from './resources.ts';

export const MACHINES = 500_000;
export const CLUSTERS = 5_000;
const CONFIGURED = MACHINES * 0.885;
const CONFIGURING = MACHINES * 0.015;
const IDLE = MACHINES * 0.05;

const TYPE_COUNT = 33;
const TYPES_PER_ROW = 2;
const ROWS = Math.ceil(TYPE_COUNT / TYPES_PER_ROW);
const PRIORITIES = [100, 1_000, 1_000, 1_000_000];
const PENALTY_DOLLARS = [0, 32, 1_024, 8_192];

interface MachineType {
  readonly name: string;
  readonly allocatable: Resources;
  readonly pricePerHour: number;
}

/** 4 to 64 cores; dearer with size. */
const types: readonly MachineType[] = Array.from({ length: TYPE_COUNT }, (_, at) => {
  const cores = 4 * 2 ** (at % 5);
  return {
    name: `family-${Math.floor(at / 5)}.${cores}c`,
    allocatable: resources({ cpu: String(cores), memory: `${cores * (2 + (at % 4))}Gi` }),
    pricePerHour: cores * 0.05 + at * 0.001,
  };
});

const profiles: readonly Profile[] = Array.from({ length: ROWS }, (_, row) =>
  createProfile({
    requirements: [typeIn(...rowTypes(row).map(({ name }) => name))],
    spread: [],
    priority: PRIORITIES[row % PRIORITIES.length]!,
    interruptionBucket: bucketOfDollars(PENALTY_DOLLARS[row % 4]!),
    reclamationBucket: bucketOfDollars(PENALTY_DOLLARS[(row + 1) % 4]!),
  }),
);

function rowTypes(row: number): readonly MachineType[] {
  return types.slice(row * TYPES_PER_ROW, (row + 1) * TYPES_PER_ROW);
}

export function seedOurs(fleet: Fleet, random: Random): () => void {
  const clusters = clusterNames(CLUSTERS);
  const draw = random.stream('machines');
  for (let at = 0; at < MACHINES; at++) {
    fleet.add(machineOf(at, draw, clusters));
  }
  return () => addDemand(fleet, clusters, random.stream('demand'));
}

function machineOf(at: number, random: Random, clusters: readonly string[]): MachinePlan {
  const type = random.below(TYPE_COUNT);
  const { name, allocatable, pricePerHour } = types[type] as MachineType;
  const zone = ZONES[random.below(ZONES.length)] as string;
  const shape = { instanceType: name, zone, allocatable, pricePerHour };
  if (at >= CONFIGURED + CONFIGURING + IDLE) {
    return { ...shape, state: State.Speculative, capacityType: CapacityType.OnDemand };
  }
  if (at >= CONFIGURED + CONFIGURING) {
    return { ...shape, state: State.Idle, capacityType: CapacityType.Reserved };
  }
  const profile = profiles[Math.floor(type / TYPES_PER_ROW)] as Profile;
  return {
    ...shape,
    state: at < CONFIGURED ? State.Configured : State.Configuring,
    capacityType: CapacityType.Reserved,
    cluster: clusters[random.below(CLUSTERS)] as string,
    assigned: {
      priority: profile.priority,
      interruptionBucket: profile.interruptionBucket,
      reclamationBucket: profile.reclamationBucket,
      needFingerprint: profile.fingerprint,
      group: '',
    },
  };
}

function addDemand(fleet: Fleet, clusters: readonly string[], random: Random): void {
  const bound = countBound(fleet, clusters);
  for (let cluster = 0; cluster < clusters.length; cluster++) {
    const needs: Need[] = [];
    for (let row = 0; row < ROWS; row++) {
      const supply = rowSupply(bound, cluster, row);
      if (supply === undefined) continue;
      const share = 0.985 + random.float() * 0.02;
      needs.push({
        cluster: clusters[cluster] as string,
        profile: profiles[row] as Profile,
        aggregate: new Map([...supply].map(([name, value]) => [name, Math.ceil(value * share)])),
        minUnit: resources({ cpu: '500m', memory: '1Gi' }),
        group: '',
        arrivalUnixNanos: BigInt(1 + random.below(1_000_000)) * 1_000_000_000n,
      });
    }
    fleet.demand(clusters[cluster] as string, needs);
  }
}

/** Machines by cluster × type, read back from the inventory. */
function countBound({ engine }: Fleet, clusters: readonly string[]): Int32Array {
  const { inventory } = engine;
  const typeOf = new Map(types.map(({ name }, at) => [name, at]));
  const ordinalOf = new Map(clusters.map((name, at) => [inventory.clusterIndex(name), at]));
  const counts = new Int32Array(clusters.length * TYPE_COUNT);
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    const ordinal = ordinalOf.get(inventory.columns.cluster[slot]!);
    if (ordinal === undefined) continue;
    const { instanceType }: Machine = inventory.read(slot);
    const cell = ordinal * TYPE_COUNT + (typeOf.get(instanceType) as number);
    counts[cell] = counts[cell]! + 1;
  }
  return counts;
}

function rowSupply(bound: Int32Array, cluster: number, row: number): Resources | undefined {
  let supply: Resources = new Map();
  for (const [at, { allocatable }] of rowTypes(row).entries()) {
    const count = bound[cluster * TYPE_COUNT + row * TYPES_PER_ROW + at]!;
    if (count > 0) supply = plus(supply, times(allocatable, count));
  }
  return supply.size === 0 ? undefined : supply;
}

/** One machine of the row's smaller type more. */
export function growOurs(need: Need): Need | undefined {
  const row = profiles.findIndex(({ fingerprint }) => fingerprint === need.profile.fingerprint);
  const type = rowTypes(row)[0];
  return type === undefined
    ? undefined
    : { ...need, aggregate: plus(need.aggregate, type.allocatable) };
}

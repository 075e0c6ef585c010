// cycle/steady/N: N idle machines over 5 types × 3 zones; 50 clusters × 1,000 needs of one machine
// each, priorities 1,000 to 10,000. Below 50,000 machines most of the demand stays short.

import { ZERO_BUCKET } from '@bigfleet/base';
import {
  createProfile,
  INSTANCE_TYPE_KEY,
  type Need,
  Operator,
  type Requirement,
  type Resources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { clusterNames, type Fleet } from './fleet.ts';
import { resources, times } from './resources.ts';

export const CLUSTERS = 50;
export const NEEDS_PER_CLUSTER = 1_000;

export const TYPES: readonly string[] = ['type-0', 'type-1', 'type-2', 'type-3', 'type-4'];
export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];
/** 8 cores and 32 GiB. */
export const MACHINE: Resources = resources({ cpu: '8', memory: '32Gi' });
const DEMAND = resources({ cpu: '7900m', memory: '31Gi' });
const UNIT = resources({ cpu: '1', memory: '1Gi' });
const ARRIVAL_NANOS = 1_767_225_600_000_000_000n;

export function addIdleMachines(fleet: Fleet, count: number, state: StateCode = State.Idle): void {
  for (let at = 0; at < count; at++) {
    const type = at % TYPES.length;
    fleet.add({
      state,
      instanceType: TYPES[type] as string,
      zone: ZONES[Math.floor(at / TYPES.length) % ZONES.length] as string,
      allocatable: MACHINE,
      pricePerHour: 1 + type,
    });
  }
}

/** The demand of every cluster, each need `machinesPerNeed` machines big. */
export function addDemand(fleet: Fleet, machinesPerNeed: number): void {
  for (const cluster of clusterNames(CLUSTERS)) {
    fleet.demand(cluster, demandOf(cluster, NEEDS_PER_CLUSTER, machinesPerNeed));
  }
}

export function demandOf(cluster: string, needs: number, machinesPerNeed = 1): Need[] {
  return Array.from({ length: needs }, (_, at) => needOf(cluster, at, machinesPerNeed));
}

function needOf(cluster: string, at: number, machines: number): Need {
  return {
    cluster,
    profile: createProfile({
      requirements: [typeIn(TYPES[at % TYPES.length] as string)],
      spread: [],
      priority: 1_000 + at * 9,
      interruptionBucket: ZERO_BUCKET,
      reclamationBucket: ZERO_BUCKET,
    }),
    aggregate: times(DEMAND, machines),
    minUnit: UNIT,
    group: '',
    arrivalUnixNanos: ARRIVAL_NANOS + BigInt(at),
  };
}

export function typeIn(...values: string[]): Requirement {
  return { key: INSTANCE_TYPE_KEY, operator: Operator.In, values };
}

/** Two machines instead of one. */
export function growToTwo(need: Need): Need | undefined {
  const cpu = need.aggregate.get('cpu') ?? 0;
  return cpu > 8_000 ? undefined : { ...need, aggregate: times(need.aggregate, 2) };
}

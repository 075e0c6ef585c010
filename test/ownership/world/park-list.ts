// The park as its provider lists it. What is gone is a quota slot again, or not listed at all, by its
// number: a shard has to notice both.

import { CapacityType, encodeShardMetadata, noAssignment, State } from '@bigfleet/engine';
import type { ReportedMachine } from '@bigfleet/shard/testing/lean-shard';
import { CPU_PER_MACHINE, type MachinePark } from './machine-park.ts';

/** Of all work in the seeds: any shortfall may drain it for another shard. */
const WORK = encodeShardMetadata({ ...noAssignment, priority: 50 });

const CPU: ReadonlyMap<string, string> = new Map([['cpu', String(CPU_PER_MACHINE)]]);

export function listedMachines(park: MachinePark): readonly ReportedMachine[] {
  return park.ids
    .filter((id) => park.stateOf(id) !== 'gone' || isSlot(id))
    .map((id) => listedMachine(park, id));
}

export function listedMachine(park: MachinePark, id: string): ReportedMachine {
  const user = park.userOf(id);
  const isGone = park.stateOf(id) === 'gone';
  const unused = isGone ? State.Speculative : State.Idle;
  return {
    id,
    state: user === undefined ? unused : State.Configured,
    host: isGone ? undefined : { provider: 'park', ref: id },
    instanceType: 'small',
    zone: park.zoneOf(id),
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: CPU,
    allocatable: CPU,
    labels: new Map(),
    lastError: '',
    cluster: user === undefined ? '' : `cluster-of-${user}`,
    shardMetadata: new Map(user === undefined ? [] : Object.entries(WORK)),
  };
}

function isSlot(id: string): boolean {
  return Number(id.slice(1)) % 2 === 0;
}

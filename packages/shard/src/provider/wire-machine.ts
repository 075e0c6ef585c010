// The wire's Machine to ours, once. Maps become Maps, so that no key of a peer's choosing meets a
// prototype. A state or capacity type without a name is an error of the answer: it must not pass
// for a state that this version knows.

import { isCapacityTypeCode, isHost, isStateCode } from '@bigfleet/engine';
import { type Machine, toMap } from '@bigfleet/wire';
import type { ReportedMachine } from './provider.ts';
import { malformedAnswer } from './provider-error.ts';
import { cutError } from './text-limits.ts';

export function reportedFromWire(machine: Machine): ReportedMachine {
  const { host, resources, allocatable } = machine;
  const state: number = machine.state;
  const capacityType: number = machine.capacityType;
  if (state !== 0 && !isStateCode(state)) throw unnamed(machine, 'state');
  if (capacityType !== 0 && !isCapacityTypeCode(capacityType)) {
    throw unnamed(machine, 'capacityType');
  }
  return {
    id: machine.id,
    state,
    host:
      host === undefined || !isHost(host) ? undefined : { provider: host.provider, ref: host.ref },
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType,
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    resources: toMap(resources?.resources ?? {}),
    allocatable: toMap(allocatable?.resources ?? {}),
    labels: toMap(machine.labels),
    lastError: cutError(machine.lastError),
    cluster: machine.cluster,
    shardMetadata: toMap(machine.shardMetadata),
  };
}

function unnamed(machine: Machine, field: 'state' | 'capacityType'): Error {
  const value: number = machine[field];
  return malformedAnswer(`machine ${JSON.stringify(machine.id)} has ${field} ${value}`);
}

// From what the harness reads back to what the wire carries: the inverse of the endpoint's own
// reading, so that a front can answer with a record that it changed.

import { CapacityType, fromMap, type ListFilter, MachineState } from '@bigfleet/wire';
import type { Ack, Inventory, ListQuery } from '../../../harness/endpoint.ts';
import {
  type MachineView,
  type State,
  stateNumber,
  type TextMap,
} from '../../../harness/machine.ts';
import type { ProviderHandlers } from '../../../harness/testing/layers.ts';

type Returned<H> = H extends (...given: never[]) => Promise<infer Message> ? Message : never;
type MachineMessage = Returned<ProviderHandlers['get']>;

export function machineMessage(machine: MachineView): MachineMessage {
  const { host, resources, allocatable } = machine;
  return {
    id: machine.id,
    state: stateNumber(machine.state),
    ...(host === undefined ? {} : { host: { provider: host.provider, ref: host.ref } }),
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType: capacityNumber(machine.capacityType),
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    ...(resources === undefined ? {} : { resources: resourcesMessage(resources) }),
    ...(allocatable === undefined ? {} : { allocatable: resourcesMessage(allocatable) }),
    labels: fromMap(machine.labels),
    lastError: machine.lastError,
    cluster: machine.cluster,
    shardMetadata: fromMap(machine.metadata),
  };
}

export function ackMessage({ operationId, machine }: Ack): Returned<ProviderHandlers['create']> {
  return { operationId, ...(machine === undefined ? {} : { machine: machineMessage(machine) }) };
}

export function listMessage({ machines, revision }: Inventory): Returned<ProviderHandlers['list']> {
  return { machines: machines.map(machineMessage), revision };
}

/** What is empty on the wire is absent here, as in a call of the harness. */
export function listQuery({ states, maxResults, sinceRevision }: ListFilter): ListQuery {
  return {
    ...(states.length === 0 ? {} : { states: states.map(stateName) }),
    ...(maxResults === 0 ? {} : { maxResults }),
    ...(sinceRevision.length === 0 ? {} : { since: sinceRevision }),
  };
}

function resourcesMessage(resources: TextMap): { readonly resources: Record<string, string> } {
  return { resources: fromMap(resources) };
}

const stateNames: ReadonlyMap<number, State> = new Map(
  Object.entries(MachineState).map(([name, number]) => [number, name as State]),
);

function stateName(number: number): State {
  return stateNames.get(number) ?? 'UNRECOGNISED';
}

function capacityNumber(capacity: MachineView['capacityType']): CapacityType {
  return capacity === 'UNRECOGNISED' ? CapacityType.UNSPECIFIED : CapacityType[capacity];
}

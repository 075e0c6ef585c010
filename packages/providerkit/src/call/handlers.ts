// The six calls as handlers of wire's Router. Mutations are decoded by the router, so that its gate
// can bind the shard id to the caller's certificate; reads take and return bytes, because List is
// put together from bytes that are already encoded.

import { BigFleetError } from '@bigfleet/base';
import {
  type CallContext,
  type CapacityProvider,
  decode,
  type FencingToken,
  type Handlers,
  ListFilterSchema,
  MachineRefSchema,
  MachineSchema,
  rawUnary,
  toMap,
} from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import { encodeMachine } from '../encoding/encode-machine.ts';
import type { MachineLister } from '../list/list-machines.ts';
import type { MachineRecord } from '../model/machine.ts';
import { refuseBadId } from './arguments.ts';
import { type CallKit, mutate } from './mutate.ts';
import type { Mutation } from '../work/work-item.ts';

type Machine = ReturnType<typeof machineMessage>;

export function capacityHandlers(
  kit: CallKit,
  lister: MachineLister,
): Handlers<typeof CapacityProvider> {
  const run = async (mutation: Mutation, call: CallContext): Promise<WireAck> => {
    const { operationId, machine } = await mutate(kit, mutation, call.signal);
    return { operationId, machine: machineMessage(machine) };
  };
  return {
    create: (request, call) => run({ kind: 'create', ...target(request) }, call),
    configure: ({ clusterId, bootstrapBlob, shardMetadata, ...request }, call) => {
      const binding = { clusterId, bootstrapBlob, shardMetadata: toMap(shardMetadata) };
      return run({ kind: 'configure', ...target(request), ...binding }, call);
    },
    drain: ({ gracePeriodSeconds, ...request }, call) =>
      run({ kind: 'drain', ...target(request), gracePeriodSeconds }, call),
    delete: (request, call) => run({ kind: 'delete', ...target(request) }, call),
    get: rawUnary(async (bytes) => get(kit.fleet, bytes)),
    list: rawUnary((bytes, call) => {
      const query = decode(ListFilterSchema, bytes, 'INVALID_ARGUMENT');
      return lister.list(query, call.signal);
    }),
  };
}

interface WireAck {
  readonly operationId: string;
  readonly machine: Machine;
}

function target(request: FencingToken & { readonly machineId: string }): {
  readonly machineId: string;
  readonly token: FencingToken;
} {
  const { machineId, shardId, shardEpoch, sequenceNumber } = request;
  return { machineId, token: { shardId, shardEpoch, sequenceNumber } };
}

function get(fleet: Fleet, bytes: Uint8Array): Uint8Array {
  const { id } = decode(MachineRefSchema, bytes, 'INVALID_ARGUMENT');
  refuseBadId(id);
  const record = fleet.get(id);
  if (record === undefined) throw new BigFleetError('machine_unknown', 'no machine has this id');
  return encodeMachine(record);
}

/** Through the one encoder, so that an ack, a Get and a List of one record are the same bytes. */
export function machineMessage(
  record: MachineRecord,
): ReturnType<typeof decode<typeof MachineSchema>> {
  return decode(MachineSchema, encodeMachine(record), 'INTERNAL');
}

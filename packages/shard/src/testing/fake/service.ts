// The fake as a CapacityProvider service: plain handlers, for the network and for the in-memory
// transport. Refusals become their statuses; anything else that a hook throws is INTERNAL.

import { describeThrown } from '@bigfleet/base';
import {
  type CapacityProvider,
  decode,
  type FencingToken,
  type Handlers,
  ListFilterSchema,
  rawUnary,
  RpcError,
  toMap,
} from '@bigfleet/wire';
import type { TransitionAck } from '../../provider/provider.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { encodeList } from './encode-list.ts';
import { wireInit } from './fake-machine.ts';
import type { FakeProvider } from './fake-provider.ts';

export function fakeHandlers(fake: FakeProvider): Handlers<typeof CapacityProvider> {
  return {
    create: async (request) =>
      answer(() => ackInit(fake.create({ machineId: request.machineId, token: tokenOf(request) }))),
    configure: async (request) =>
      answer(() =>
        ackInit(
          fake.configure({
            machineId: request.machineId,
            clusterId: request.clusterId,
            shardMetadata: toMap(request.shardMetadata),
            token: tokenOf(request),
          }),
        ),
      ),
    drain: async (request) =>
      answer(() =>
        ackInit(
          fake.drain({
            machineId: request.machineId,
            gracePeriodSeconds: request.gracePeriodSeconds,
            token: tokenOf(request),
          }),
        ),
      ),
    delete: async (request) =>
      answer(() => ackInit(fake.delete({ machineId: request.machineId, token: tokenOf(request) }))),
    get: async ({ id }) => answer(() => wireInit(fake.get(id))),
    list: rawUnary(async (bytes) => {
      const filter = decode(ListFilterSchema, bytes, 'INVALID_ARGUMENT');
      return answer(() => encodeList(fake.list(filter)));
    }),
  };
}

function tokenOf({ shardId, shardEpoch, sequenceNumber }: FencingToken): FencingToken {
  return { shardId, shardEpoch, sequenceNumber };
}

function ackInit({ operationId, machine }: TransitionAck): {
  operationId: string;
  machine?: ReturnType<typeof wireInit>;
} {
  return machine === undefined ? { operationId } : { operationId, machine: wireInit(machine) };
}

function answer<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof ProviderError) {
      throw new RpcError(thrown.status, thrown.message, { cause: thrown });
    }
    throw new RpcError('INTERNAL', describeThrown(thrown), { cause: thrown });
  }
}

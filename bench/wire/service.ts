// What both servers answer: a provider's Get from memory, and a session that answers each frame
// with one. No work beyond a look-up, so that the transport is what a bench measures.
// The last roll-up is kept until the next replaces it, as a shard keeps it. That also makes the
// sides alike: a `for await` handler holds its last message anyway, an event handler does not, and
// V8 decodes the next one at half the speed while the last is alive (see steady-codec.ts).

import {
  type ClusterCapacityNeeds,
  type Machine,
  type OperatorMessage,
  RpcError,
  type ShardMessage,
} from '@bigfleet/wire';
import { createMachines, createNodeUpdates, rollupEcho } from './messages.ts';

export interface Service {
  get(id: string): Machine;
  answer(message: OperatorMessage): ShardAnswer;
}

/** A complete message, or the little that an acknowledgement needs. */
type ShardAnswer =
  | ShardMessage
  | { readonly payload: { readonly case: 'ack'; readonly value: { readonly echo: string } } };

export function createService(seed: number): Service {
  const machines = createMachines(seed);
  const updates = createNodeUpdates(seed);
  const demand = new Map<string, ClusterCapacityNeeds>();
  return {
    get: (id) => machines.get(id) ?? unknown(`machine ${id}`),
    answer: ({ payload }) => {
      switch (payload.case) {
        case 'hello':
          return ack(payload.value.clusterId);
        case 'rollup':
          demand.set(payload.value.clusterId, payload.value);
          return ack(rollupEcho(payload.value.clusterId, payload.value.needs.length));
        case 'bootstrapResponse':
          return updates.get(payload.value.requestId) ?? unknown(payload.value.requestId);
        case 'reclaimAck':
        case 'nodeIdentity':
        case undefined:
          return unknown('this kind of frame');
      }
    },
  };
}

function ack(echo: string): ShardAnswer {
  return { payload: { case: 'ack', value: { echo } } };
}

function unknown(what: string): never {
  throw new RpcError('NOT_FOUND', `the bench does not know ${what}`);
}

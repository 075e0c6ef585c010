// Fencing tokens and the calls that carry them. A Create toward IDLE is idempotent, so on a
// machine that was created before, FAILED_PRECONDITION can only be the fence: `fencedCreate` is
// the probe that most fencing behaviours use.

import type { FencingToken } from '@bigfleet/wire';
import type { CheckContext } from './check.ts';
import type { Ack, Answer } from './endpoint.ts';
import { standardBlob, standardCluster } from './walk.ts';

export type Mutation = 'create' | 'configure' | 'drain' | 'delete';

export const mutations: readonly Mutation[] = ['create', 'configure', 'drain', 'delete'];

const NONCE_BYTES = 4;

/** Never met before, so that a rerun against a long-lived provider does not meet old marks. */
export function uniqueShardId(context: CheckContext, prefix: string): string {
  const { clock, entropy } = context.runtime;
  const nonce = Buffer.from(entropy.bytes(NONCE_BYTES)).readUInt32BE();
  return `conf-${prefix}-${clock.unixNanos()}-${nonce}`;
}

export function token(shardId: string, epoch: bigint, sequence: bigint): FencingToken {
  return { shardId, shardEpoch: epoch, sequenceNumber: sequence };
}

/** With the standard arguments; undefined is the unfenced call. */
export function fencedCall(
  context: CheckContext,
  mutation: Mutation,
  machineId: string,
  stamp: FencingToken | undefined,
): Promise<Answer<Ack>> {
  const call = { machineId, token: stamp };
  switch (mutation) {
    case 'create':
      return context.endpoint.create(call);
    case 'configure':
      return context.endpoint.configure({
        ...call,
        clusterId: standardCluster,
        blob: standardBlob,
      });
    case 'drain':
      return context.endpoint.drain({ ...call, graceSeconds: 0n });
    case 'delete':
      return context.endpoint.delete(call);
  }
}

export function fencedCreate(
  context: CheckContext,
  machineId: string,
  stamp: FencingToken,
): Promise<Answer<Ack>> {
  return fencedCall(context, 'create', machineId, stamp);
}

/** A token in words, for findings. */
export function shownToken({ shardEpoch, sequenceNumber }: FencingToken): string {
  return `(${shardEpoch},${sequenceNumber})`;
}

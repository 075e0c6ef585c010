// The frames that a shard sends down a session, as plain values. They are built here and encoded
// only when the transport asks for the next one (outbox-stream.ts): a frame that a newer one
// replaces in the queue is never serialised.

import { encodeInit, ShardMessageSchema } from '@bigfleet/wire';

export type ShardFrame = Parameters<typeof encodeInit<typeof ShardMessageSchema>>[1];

/** `rollup`: applied, the demand is in the NeedsTable; `rollup-held`: received, kept out of it. */
export type AckEcho = 'hello' | 'rollup' | 'rollup-held' | 'resync';

export interface AckStamp {
  readonly coordinatorTerm: bigint;
  readonly shardEpoch: bigint;
}

export function ackFrame(
  echo: AckEcho,
  stamp: AckStamp,
  extensions: readonly string[] = [],
): ShardFrame {
  return { payload: { case: 'ack', value: { echo, ...stamp, extensions: [...extensions] } } };
}

export function encodeFrame(frame: ShardFrame): Uint8Array {
  return encodeInit(ShardMessageSchema, frame);
}

// The frames that a shard sends down a session, as plain values. They are built here and encoded
// only when the transport asks for the next one (outbox-stream.ts): a frame that a newer one
// replaces in the queue is never serialised.

import { encodeInit, ShardMessageSchema } from '@bigfleet/wire';

export type FrameInit = Parameters<typeof encodeInit<typeof ShardMessageSchema>>[1];

export type ShardFrame = FrameInit | PreparedFrame;

/** One frame for many sessions: encoded when the first of them sends it, and once. */
interface PreparedFrame {
  readonly encode: () => Uint8Array;
}

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
): FrameInit {
  return { payload: { case: 'ack', value: { echo, ...stamp, extensions: [...extensions] } } };
}

export function preparedFrame(frame: FrameInit): ShardFrame {
  let bytes: Uint8Array | undefined;
  return { encode: () => (bytes ??= encodeInit(ShardMessageSchema, frame)) };
}

export function encodeFrame(frame: ShardFrame): Uint8Array {
  return 'encode' in frame ? frame.encode() : encodeInit(ShardMessageSchema, frame);
}

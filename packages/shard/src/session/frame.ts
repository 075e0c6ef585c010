// The frames that a shard sends down a session, as plain values. They are built here and encoded
// only when the transport asks for the next one (outbox-stream.ts): a frame that a newer one
// replaces in the queue is never serialised.

import { ShardMessageSchema, encodeInit } from '@bigfleet/wire';
import type { Entropy } from '@bigfleet/base';

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

interface Stamped {
  readonly stamp: AckStamp;
  readonly frame: ShardFrame;
}

/**
 * Acknowledgements of roll-ups, encoded once and sent to every session: they say nothing about the
 * session, and their stamp changes with a restart or a new leader only. Thousands a second are one
 * of the few frames whose encoding shows in a profile. Bound: one frame per echo.
 */
export class AckFrames {
  readonly #stampNow: () => AckStamp;
  readonly #byEcho = new Map<AckEcho, Stamped>();

  constructor(stampNow: () => AckStamp) {
    this.#stampNow = stampNow;
  }

  /** With the stamp as of now. */
  of(echo: AckEcho): ShardFrame {
    const stamp = this.#stampNow();
    const known = this.#byEcho.get(echo);
    if (known !== undefined && isSame(known.stamp, stamp)) return known.frame;
    const frame = preparedFrame(ackFrame(echo, stamp));
    this.#byEcho.set(echo, { stamp: { ...stamp }, frame });
    return frame;
  }
}

function isSame(a: AckStamp, b: AckStamp): boolean {
  return a.shardEpoch === b.shardEpoch && a.coordinatorTerm === b.coordinatorTerm;
}

const ID_BYTES = 8;

/**
 * The id of a request or an instruction: 8 unpredictable bytes as 16 hex characters, because an
 * operator that could guess another cluster's id could answer for it (security §7, row 9).
 */
export function newFrameId(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(ID_BYTES)).toString('hex');
}

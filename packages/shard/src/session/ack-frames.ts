// Acknowledgements of roll-ups, encoded once and sent to everybody: they say nothing about the
// session, and their stamp changes with a restart or a new leader only. Thousands a second are one
// of the few frames whose encoding shows in a profile.
//
// Bound: one frame per echo.

import { type AckEcho, ackFrame, type AckStamp, preparedFrame, type ShardFrame } from './frame.ts';

interface Stamped {
  readonly stamp: AckStamp;
  readonly frame: ShardFrame;
}

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

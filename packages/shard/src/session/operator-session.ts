// What the rest of the shard sees of a live session: a place to put frames. Nothing here waits and
// nothing here fails: a frame for a session that has ended vanishes, because reconnect, resync and
// reissue bring back whatever still matters (shard §4.1).

import type { ClusterId } from '@bigfleet/base';
import type { Extension } from './extensions.ts';
import type { ShardFrame } from './frame.ts';

export interface OperatorSession {
  readonly cluster: ClusterId;
  readonly isOpen: boolean;
  /** The feature was named by both sides. */
  has(extension: Extension): boolean;
  /** Must-deliver, in order, ahead of coalescing frames. */
  deliver(frame: ShardFrame): void;
  /** Coalescing: a newer frame of the same supersedes key takes the place of the queued one. */
  post(supersedesKey: string, frame: ShardFrame): void;
  /** Leaves after every coalescing frame that is queued now, or what replaces it. */
  barrier(frame: ShardFrame): void;
}

/** Who is connected. */
export interface SessionDirectory {
  sessionOf(cluster: string): OperatorSession | undefined;
  /** Every live session, in the order of their connection. */
  all(): Iterable<OperatorSession>;
}

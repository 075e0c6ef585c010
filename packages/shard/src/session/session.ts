// One live session: its cluster, the negotiated extensions, and the way to its outbox. It starts
// installed and ends once, with the reason that the operator gets as its status. It knows nothing
// of the frames that pass through it.

import type { ClusterId } from '@bigfleet/base';
import type { RpcError } from '@bigfleet/wire';
import type { Extension } from './hello.ts';
import type { ShardFrame } from './frame.ts';
import type { OutboxStream } from './outbox-stream.ts';

/**
 * A live session as the rest of the shard sees it: a place to put frames. Nothing here waits and
 * nothing here fails: a frame for a session that has ended vanishes, because reconnect, resync and
 * reissue bring back whatever still matters (shard §4.1).
 */
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

export interface SessionOptions {
  readonly cluster: ClusterId;
  readonly extensions: readonly Extension[];
  /** The SAN, or `unauthenticated` on a plaintext listener. */
  readonly presentedIdentity: string;
  readonly sinceUnixNanos: bigint;
  readonly stream: OutboxStream;
  /** Ends the conversation; `undefined` is an orderly end. */
  readonly onClose: (reason: RpcError | undefined) => void;
}

export class Session implements OperatorSession {
  readonly cluster: ClusterId;
  readonly extensions: readonly Extension[];
  readonly presentedIdentity: string;
  readonly sinceUnixNanos: bigint;
  /** A roll-up of this session is in the NeedsTable: from now on it gets the catch-all hint. */
  hasAcceptedRollup = false;
  /** As the operator last reported them; empty until it does. */
  phantomMachineIds: readonly string[] = [];
  readonly #stream: OutboxStream;
  readonly #onClose: (reason: RpcError | undefined) => void;

  constructor(options: SessionOptions) {
    this.cluster = options.cluster;
    this.extensions = options.extensions;
    this.presentedIdentity = options.presentedIdentity;
    this.sinceUnixNanos = options.sinceUnixNanos;
    this.#stream = options.stream;
    this.#onClose = options.onClose;
  }

  get isOpen(): boolean {
    return !this.#stream.isEnded;
  }

  get outboxFrameCount(): number {
    return this.#stream.frameCount;
  }

  has(extension: Extension): boolean {
    return this.extensions.includes(extension);
  }

  deliver(frame: ShardFrame): void {
    this.#stream.deliver(frame);
  }

  post(supersedesKey: string, frame: ShardFrame): void {
    this.#stream.post(supersedesKey, frame);
  }

  barrier(frame: ShardFrame): void {
    this.#stream.barrier(frame);
  }

  close(reason?: RpcError): void {
    this.#onClose(reason);
  }
}

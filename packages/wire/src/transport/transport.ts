// What a transport does: it moves opaque messages along method paths, with metadata,
// deadlines, cancellation and a status at the end. Codecs, typing and authorisation
// live above it (rpc/), so the network adapter (grpc/) and the simulator's adapter
// (memory/) stay interchangeable, and raw-bytes paths need no second mechanism.
//
// Cancellation and deadlines are AbortSignals. A signal made by base's deadline
// helpers carries its deadline, which the transport sends to the peer; any other
// abort is a cancellation.

import type { Peer } from '../identity/identity.ts';
import type { Metadata } from './status.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly metadata?: Metadata;
  /**
   * Told before the first response which of the channel's connections carries the call. A connection
   * that was made anew has another number: the server behind it may be another process.
   */
  readonly onConnection?: (connection: number) => void;
}

/** The client's end: one logical connection to one target. Failures are RpcErrors. */
export interface Channel {
  unary(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;

  /**
   * Any streaming shape. The call starts at once. Ending `requests` half-closes; returning
   * early from the response iterator cancels the call; a failure status is thrown by the
   * iterator after the messages that came before it.
   */
  stream(
    path: string,
    requests: AsyncIterable<Uint8Array>,
    options?: CallOptions,
  ): AsyncIterableIterator<Uint8Array>;

  /** Ends every call on this channel with CANCELLED. Idempotent. */
  close(): void;
}

/** What a handler knows about the call it serves. */
export interface CallContext {
  readonly path: string;
  readonly peer: Peer;
  readonly metadata: Metadata;
  /** Aborts when the caller cancels or is gone, the deadline passes, or the server stops by force. */
  readonly signal: AbortSignal;
  /** Sent with the status, whatever it is. */
  setTrailer(key: string, value: string): void;
}

export type ByteMethod =
  | {
      readonly kind: 'unary';
      handle(request: Uint8Array, call: CallContext): Promise<Uint8Array>;
    }
  | {
      readonly kind: 'stream';
      /** Pulled one message at a time: a slow peer slows the handler, never fills a buffer. */
      handle(requests: AsyncIterable<Uint8Array>, call: CallContext): AsyncIterable<Uint8Array>;
    };

/** What a server transport serves: looked up per call, UNIMPLEMENTED when absent. */
export interface ByteRouter {
  find(path: string): ByteMethod | undefined;
}

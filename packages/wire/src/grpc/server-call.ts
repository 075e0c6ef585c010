// One call at the server: the CallContext that a handler sees, and the listener that
// grpc-js talks to. It takes over below grpc-js's stream objects (the interceptor layer),
// because those add a Duplex, an emitter and a second queue per call.
//
// Each call ends exactly once: with a status that we send, or because the peer is gone.
// A handler that outlives its call is told through the signal, and what it still returns
// is dropped. Nothing that a handler throws reaches the process.
//
// Cost per unary call: this object and one promise; the signal and the metadata map exist
// only if the handler asks. Guarded by bench wire/unary.

import { type Deadline, type Runtime, withDeadline } from '@bigfleet/base';
import {
  Metadata as GrpcMetadata,
  type ServerInterceptingCallInterface,
  status,
} from '@grpc/grpc-js';
import type { Peer } from '../identity/identity.ts';
import {
  abortReason,
  checkMetadataEntry,
  type Metadata,
  noMetadata,
  RpcError,
  statusName,
  statusNumber,
  tooLarge,
  toRpcError,
} from '../transport/status.ts';
import type { CallContext } from '../transport/transport.ts';
import { maxMessageBytes } from './limits.ts';
import { fromGrpc, toGrpc } from './metadata.ts';

type CallListener = Parameters<ServerInterceptingCallInterface['start']>[0];

/** What a call needs of the server it runs in. */
export interface CallHost {
  readonly runtime: Runtime;
  opened(call: ServerCall): unknown;
  closed(call: ServerCall): unknown;
  /** A handler threw what no handler should throw, or threw while it was being stopped. */
  panicked(path: string, error: unknown): void;
}

export interface CallSetup {
  readonly path: string;
  readonly peer: Peer;
  readonly wire: ServerInterceptingCallInterface;
  readonly host: CallHost;
}

export abstract class ServerCall implements CallContext, CallListener {
  readonly path: string;
  readonly peer: Peer;
  protected readonly wire: ServerInterceptingCallInterface;
  protected readonly host: CallHost;
  protected open = true;
  #headers: GrpcMetadata | undefined;
  #metadata: Metadata | undefined;
  #trailers: GrpcMetadata | undefined;
  #controller: AbortController | undefined;
  #deadline: Deadline | undefined;
  #ending: RpcError | undefined;

  constructor({ path, peer, wire, host }: CallSetup) {
    this.path = path;
    this.peer = peer;
    this.wire = wire;
    this.host = host;
    this.#watchStatus();
  }

  get metadata(): Metadata {
    if (this.#headers === undefined) return noMetadata;
    this.#metadata ??= fromGrpc(this.#headers);
    return this.#metadata;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) this.#createSignal();
    return this.#deadline?.signal ?? (this.#controller as AbortController).signal;
  }

  setTrailer(key: string, value: string): void {
    checkMetadataEntry(key, value);
    this.#trailers ??= new GrpcMetadata();
    this.#trailers.set(key, value);
  }

  onReceiveMetadata(headers: GrpcMetadata): void {
    this.#headers = headers;
    this.host.opened(this);
    this.begin();
  }

  abstract onReceiveMessage(message: Uint8Array): void;
  abstract onReceiveHalfClose(): void;
  protected abstract begin(): void;
  /** The call is over without our doing; release what waits for the peer. */
  protected abstract abandoned(reason: RpcError): void;

  /** grpc-js reports this after every end, also after our own status. */
  onCancel(): void {
    if (!this.open) return;
    const reason = this.#ending ?? new RpcError('CANCELLED', 'the caller cancelled or is gone');
    this.close(reason);
    this.abandoned(reason);
  }

  /** Ends the call from the server's side: a forced stop. */
  terminate(reason: RpcError): void {
    if (!this.open) return;
    this.close(reason);
    this.#sendStatus(reason);
    this.abandoned(reason);
  }

  /** The handler was told that the time is up; an answer after that is no success. */
  protected get isOverdue(): boolean {
    return this.open && this.#deadline?.signal.aborted === true;
  }

  protected succeed(): void {
    if (!this.open) return;
    this.close(undefined);
    this.wire.sendStatus({ code: status.OK, details: '', metadata: this.#trailers ?? null });
  }

  /** A bug is reported also when the caller is gone and nobody waits for the status. */
  protected fail(thrown: unknown): void {
    const known = toRpcError(thrown);
    if (known === undefined) this.host.panicked(this.path, thrown);
    if (!this.open) return;
    this.close(undefined);
    this.#sendStatus(known ?? new RpcError('INTERNAL', 'internal: the server failed; see its log'));
  }

  /** Not handed to grpc-js: it would end the call without calling back. */
  protected isTooLarge(message: Uint8Array): boolean {
    if (message.length <= maxMessageBytes) return false;
    this.fail(tooLarge(message, maxMessageBytes));
    return true;
  }

  #sendStatus(error: RpcError): void {
    this.wire.sendStatus({
      code: statusNumber(error.code),
      // Not well-formed text would make grpc-js throw while it encodes the header.
      details: error.message.toWellFormed(),
      metadata: this.#trailersWith(error.metadata),
    });
  }

  protected close(reason: RpcError | undefined): void {
    this.open = false;
    this.host.closed(this);
    // Before the disposal: the deadline's signal hears of the abort through its parent.
    if (reason !== undefined) this.#controller?.abort(abortReason(reason));
    this.#deadline?.dispose();
  }

  #createSignal(): void {
    const controller = new AbortController();
    this.#controller = controller;
    const wallMs = Number(this.wire.getDeadline());
    if (Number.isFinite(wallMs)) {
      const nowMs = Number(this.host.runtime.clock.unixNanos() / 1_000_000n);
      this.#deadline = withDeadline(this.host.runtime, wallMs - nowMs, controller.signal);
    }
    if (this.open) return;
    controller.abort(abortReason(this.#ending ?? new RpcError('CANCELLED', 'the call is over')));
    this.#deadline?.dispose();
  }

  /**
   * grpc-js ends a call by itself for an oversized message, a passed deadline or a bad
   * header. Its sendStatus is where that shows, and where the text gets our stable code.
   */
  #watchStatus(): void {
    const { wire } = this;
    const send = wire.sendStatus.bind(wire);
    wire.sendStatus = (given) => {
      if (!this.open) return send(given);
      const isTooLarge = given.code === status.RESOURCE_EXHAUSTED;
      const details = isTooLarge ? `message_too_large: ${given.details}` : given.details;
      const code = statusName(given.code);
      this.#ending = new RpcError(code === 'OK' ? 'INTERNAL' : code, details);
      return send({ ...given, details });
    };
  }

  #trailersWith(extra: Metadata): GrpcMetadata | null {
    if (extra.size === 0) return this.#trailers ?? null;
    try {
      const trailers = toGrpc(extra);
      if (this.#trailers !== undefined) trailers.merge(this.#trailers);
      return trailers;
    } catch (error) {
      this.host.panicked(this.path, error);
      return this.#trailers ?? null;
    }
  }
}

// One call at the client: unary as a promise, any other shape as an iterator. It drives
// grpc-js below its stream objects, and turns whatever ends a call (status, signal,
// deadline, a closed channel) into exactly one outcome.
//
// Cost per unary call: this object and one promise. Guarded by bench wire/unary.

import { BigFleetError } from '@bigfleet/base';
import {
  type experimental,
  type Metadata as GrpcMetadata,
  status as grpcStatus,
  type StatusObject,
} from '@grpc/grpc-js';
import {
  type FailureCode,
  requestFailure,
  RpcError,
  statusName,
  tooLarge,
  toRpcError,
} from '../transport/status.ts';
import { Inbox } from './inbox.ts';
import { maxMessageBytes } from './limits.ts';
import { fromGrpc } from './metadata.ts';
import { Pump, type PumpSink } from './pump.ts';
import { realCode } from './library-patches.ts';

export type WireCall = experimental.CallStream;
type Listener = Parameters<WireCall['start']>[1];

export interface ClientCallSetup {
  readonly wire: WireCall;
  readonly signal: AbortSignal | undefined;
  /** The channel's running calls. */
  readonly registry: Set<ClientCall>;
  /** Which connection answers, at the first sign of an answer. */
  readonly onAnswering: ((wire: WireCall) => void) | undefined;
}

export abstract class ClientCall implements Listener {
  protected readonly wire: WireCall;
  protected open = true;
  readonly #signal: AbortSignal | undefined;
  readonly #registry: Set<ClientCall>;
  readonly #onAnswering: ClientCallSetup['onAnswering'];

  constructor({ wire, signal, registry, onAnswering }: ClientCallSetup) {
    this.wire = wire;
    this.#signal = signal;
    this.#registry = registry;
    this.#onAnswering = onAnswering;
    registry.add(this);
    signal?.addEventListener('abort', this.#onAbort);
  }

  onReceiveMetadata(): void {
    this.#onAnswering?.(this.wire);
  }

  abstract onReceiveMessage(message: Buffer): void;

  onReceiveStatus(status: StatusObject): void {
    if (!this.open) return;
    const code = statusName(realCode(status));
    if (code === 'OK') {
      this.release();
      this.ended();
      return;
    }
    this.#end(new RpcError(code, textOf(code, status), { metadata: fromGrpc(status.metadata) }));
  }

  /** Ends the call from this side, now; the peer is told. */
  cancel(error: RpcError): void {
    if (!this.open) return;
    const code =
      error.code === 'DEADLINE_EXCEEDED' ? grpcStatus.DEADLINE_EXCEEDED : grpcStatus.CANCELLED;
    this.wire.cancelWithStatus(code, error.message);
    this.#end(error);
  }

  protected abstract ended(): void;
  protected abstract failed(error: RpcError): void;

  protected release(): void {
    this.open = false;
    this.#registry.delete(this);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #end(error: RpcError): void {
    this.release();
    this.failed(error);
  }

  readonly #onAbort = (): void => this.cancel(abortError(this.#signal?.reason));
}

/** The status of a call whose signal aborted: the deadline's own error, or a cancellation. */
export function abortError(reason: unknown): RpcError {
  if (reason instanceof BigFleetError && reason.code === 'deadline_exceeded') {
    return new RpcError('DEADLINE_EXCEEDED', 'the deadline of the call passed', { cause: reason });
  }
  return new RpcError('CANCELLED', 'the caller cancelled', { cause: reason });
}

export function checkSize(message: Uint8Array): RpcError | undefined {
  return message.length <= maxMessageBytes ? undefined : tooLarge(message, maxMessageBytes);
}

/**
 * The words of grpc-js, put right: its refusal of a large message gets the code that ours carries,
 * and a connection that failed ends with its reason, not with the resolver's note that nobody wrote.
 */
function textOf(code: FailureCode, { details }: StatusObject): string {
  const text = code === 'UNAVAILABLE' ? details.replace(/\. Resolution note: $/, '') : details;
  const isOurs = code !== 'RESOURCE_EXHAUSTED' || !text.startsWith('Received message');
  return isOurs ? text : `message_too_large: ${text}`;
}

function toBuffer(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}

/** A plain view: Buffer's slice() shares memory where a Uint8Array's copies. */
function fromBuffer(message: Buffer): Uint8Array {
  return new Uint8Array(message.buffer, message.byteOffset, message.byteLength);
}

export class UnaryClientCall extends ClientCall {
  readonly #resolve: (response: Uint8Array) => void;
  readonly #reject: (error: RpcError) => void;
  #response: Buffer | undefined;

  constructor(
    setup: ClientCallSetup,
    resolve: (response: Uint8Array) => void,
    reject: (error: RpcError) => void,
  ) {
    super(setup);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(metadata: GrpcMetadata, request: Uint8Array): void {
    this.wire.start(metadata, this);
    this.wire.startRead();
    this.wire.sendMessageWithContext({}, toBuffer(request));
    this.wire.halfClose();
  }

  onReceiveMessage(message: Buffer): void {
    if (this.#response !== undefined) {
      this.cancel(new RpcError('INTERNAL', 'the server sent more than one response'));
      return;
    }
    this.#response = message;
    this.wire.startRead();
  }

  protected ended(): void {
    if (this.#response === undefined) {
      this.#reject(new RpcError('INTERNAL', 'the server sent no response'));
    } else {
      this.#resolve(fromBuffer(this.#response));
    }
  }

  protected failed(error: RpcError): void {
    this.#reject(error);
  }
}

const oneAtATime = { aheadBytes: Number.POSITIVE_INFINITY, aheadMessageCount: 1 };

export class StreamClientCall extends ClientCall implements PumpSink {
  readonly responses: Inbox;
  readonly #pump: Pump;
  readonly #onCleanUpError: (error: unknown) => void;

  constructor(
    setup: ClientCallSetup,
    requests: AsyncIterable<Uint8Array>,
    onCleanUpError: (error: unknown) => void,
  ) {
    super(setup);
    this.#onCleanUpError = onCleanUpError;
    this.responses = new Inbox({
      startRead: () => this.wire.startRead(),
      abandon: () => this.cancel(new RpcError('CANCELLED', 'the caller wants no more')),
    });
    // grpc-js keeps one unsent message per call in places, so each write waits for the last.
    this.#pump = new Pump(requests, this, oneAtATime);
  }

  start(metadata: GrpcMetadata): void {
    this.wire.start(metadata, this);
    this.responses.open();
    this.#pump.start();
  }

  onReceiveMessage(message: Buffer): void {
    this.responses.push(fromBuffer(message));
  }

  write(message: Uint8Array, done: () => void): void {
    const refused = checkSize(message);
    if (refused !== undefined) this.cancel(refused);
    else this.wire.sendMessageWithContext({ callback: done }, toBuffer(message));
  }

  sourceEnded(): void {
    if (this.open) this.wire.halfClose();
  }

  sourceFailed(error: unknown): void {
    this.cancel(requestFailure(error));
  }

  cleanUpFailed(error: unknown): void {
    if (toRpcError(error) === undefined) this.#onCleanUpError(error);
  }

  protected ended(): void {
    this.responses.end();
    this.#pump.stop();
  }

  protected failed(error: RpcError): void {
    this.responses.fail(error);
    this.#pump.stop();
  }
}

// The caller's end of a call. It ends exactly once: by the peer's status, by the caller (signal,
// early return, closed channel) or by the loss of its connection; what arrives later is dropped
// and counted. States: waiting (for its connection) → open → over.

import { deadlineOf, type Timer } from '@bigfleet/base';
import {
  copyMetadata,
  type Metadata,
  requestFailure,
  RpcError,
  tooLarge,
  toRpcError,
} from '../transport/status.ts';
import type { CallOptions } from '../transport/transport.ts';
import { Inbox, SendWindow } from './flow.ts';
import type { CallEnd, Half } from './half.ts';
import type { Ledger } from './ledger.ts';
import type { Lane } from './link.ts';
import type { CallPacket, StatusPacket } from './packet.ts';
import type { Settings } from './settings.ts';

export interface ClientCallOptions {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly path: string;
  /** One message for a unary call. */
  readonly requests: Uint8Array | AsyncIterable<Uint8Array>;
  readonly options: CallOptions;
  /** The call is over before or after it got a connection. */
  readonly onOver: (call: ClientCall) => void;
}

interface Place {
  readonly half: Half;
  readonly id: number;
  readonly lane: Lane;
}

export class ClientCall implements CallEnd {
  readonly responses: Inbox;
  readonly #call: ClientCallOptions;
  readonly #ledger: Ledger;
  readonly #window: SendWindow;
  readonly #metadata: Metadata;
  readonly #signal: AbortSignal | undefined;
  #deadlineMs: number | undefined;
  #deadlineTimer: Timer | undefined;
  #place: Place | undefined;
  #requests: AsyncIterator<Uint8Array> | undefined;
  #isListening = false;
  #isOver = false;

  /** Throws RpcError INVALID_ARGUMENT for metadata that cannot be sent. */
  constructor(call: ClientCallOptions) {
    this.#call = call;
    this.#ledger = call.ledger;
    this.#metadata = copyMetadata(call.options.metadata);
    this.#window = new SendWindow(call.settings.windowBytes);
    this.responses = new Inbox({
      windowBytes: call.settings.windowBytes,
      refund: (bytes) => this.#send({ kind: 'credit', bytes }),
      onReturn: () => this.cancel('the caller left the response stream'),
    });
    this.#ledger.open.clientCalls += 1;
    this.#signal = call.options.signal;
    this.#deadlineMs = this.#signal === undefined ? undefined : deadlineOf(this.#signal);
    if (this.#signal !== undefined) this.#listen(this.#signal);
    if (this.#deadlineMs === undefined && call.requests instanceof Uint8Array) this.#armDefault();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The connection is open: the call goes out. */
  attach(half: Half): void {
    if (half.calls.size >= half.settings.maxCallsPerConnection) {
      this.#end(new RpcError('RESOURCE_EXHAUSTED', 'too many calls on one connection'));
      return;
    }
    const id = half.connection.nextCallId();
    this.#place = { half, id, lane: half.connection.lane('up', id) };
    half.addCall(id, this);
    this.#call.options.onConnection?.(half.connection.id);
    this.#open(this.#call.requests);
  }

  receive(packet: CallPacket): void {
    switch (packet.kind) {
      case 'data':
        if (this.#fits(packet.message)) this.responses.push(packet.message);
        return;
      case 'credit':
        this.#window.refund(packet.bytes);
        return;
      case 'status':
        if (packet.message !== undefined && this.#fits(packet.message)) {
          this.responses.pushLast(packet.message);
        }
        this.#end(failureOf(packet));
        return;
      case 'lost':
        this.#end(new RpcError('UNAVAILABLE', 'the call was lost'));
        return;
      case 'open':
      case 'end':
      case 'cancel':
        this.#ledger.counters.latePackets += 1;
    }
  }

  fail(error: RpcError): void {
    this.#end(error);
  }

  cancel(text: string): void {
    this.#giveUp(new RpcError('CANCELLED', text));
  }

  #open(requests: Uint8Array | AsyncIterable<Uint8Array>): void {
    const message = requests instanceof Uint8Array ? requests : undefined;
    if (message !== undefined && !this.#fits(message)) return;
    const nowMs = this.#ledger.clock.monotonicMs();
    const timeoutMs = this.#deadlineMs === undefined ? undefined : this.#deadlineMs - nowMs;
    this.#send({
      kind: 'open',
      path: this.#call.path,
      metadata: this.#metadata,
      timeoutMs: timeoutMs === undefined ? undefined : Math.max(0, timeoutMs),
      message: message === undefined ? undefined : new Uint8Array(message),
    });
    if (!(requests instanceof Uint8Array)) this.#ledger.supervise(this.#pump(requests));
  }

  /** Pulls a request only when the window has room, so a slow server slows the caller. */
  async #pump(requests: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      const iterator = requests[Symbol.asyncIterator]();
      this.#requests = iterator;
      for (;;) {
        if (!this.#window.isOpen) await this.#window.wait();
        if (this.#isOver) return;
        const step = await iterator.next();
        if (this.#isOver) return;
        if (step.done === true) break;
        if (!this.#fits(step.value)) return;
        this.#window.spend(step.value);
        this.#send({ kind: 'data', message: new Uint8Array(step.value) });
      }
      this.#requests = undefined;
      this.#send({ kind: 'end' });
    } catch (cause) {
      this.#requests = undefined;
      if (this.#isOver) this.#ledger.counters.lateResults += 1;
      else this.#giveUp(requestFailure(cause));
    }
  }

  /** Ends the call when the message does not fit. */
  #fits(message: Uint8Array): boolean {
    const { maxMessageBytes } = this.#call.settings;
    if (message.length <= maxMessageBytes) return true;
    this.#giveUp(tooLarge(message, maxMessageBytes));
    return false;
  }

  /** The caller's own deadline needs no timer here: its signal aborts. */
  #armDefault(): void {
    if (this.#isOver) return;
    const { unaryDeadlineMs } = this.#call.settings;
    this.#deadlineMs = this.#ledger.clock.monotonicMs() + unaryDeadlineMs;
    this.#deadlineTimer = this.#ledger.timers.after(unaryDeadlineMs, () => {
      this.#giveUp(new RpcError('DEADLINE_EXCEEDED', 'the deadline of the call passed'));
    });
  }

  #listen(signal: AbortSignal): void {
    if (signal.aborted) {
      this.#onAbort();
      return;
    }
    signal.addEventListener('abort', this.#onAbort);
    this.#isListening = true;
    this.#ledger.open.signalListeners += 1;
  }

  #unlisten(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#ledger.open.signalListeners -= 1;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#signal?.reason;
    const isDeadline = toRpcError(reason)?.code === 'DEADLINE_EXCEEDED';
    this.#giveUp(
      isDeadline
        ? new RpcError('DEADLINE_EXCEEDED', 'the deadline of the call passed', { cause: reason })
        : new RpcError('CANCELLED', 'the caller cancelled', { cause: reason }),
    );
  };

  /** Ends the call here, and tells the peer to stop. */
  #giveUp(failure: RpcError): void {
    if (this.#isOver) return;
    this.#send({ kind: 'cancel' });
    this.#end(failure);
  }

  #end(failure: RpcError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ledger.open.clientCalls -= 1;
    this.#unlisten();
    this.#deadlineTimer?.cancel();
    this.#recordEnd(failure);
    this.#window.close();
    this.responses.end(failure);
    this.#returnRequests();
    if (this.#place !== undefined) {
      this.#place.half.connection.release(this.#place.lane);
      this.#place.half.removeCall(this.#place.id);
    }
    this.#call.onOver(this);
  }

  /** Its cleanup runs; nobody waits for it, and a failure in it is only counted. */
  #returnRequests(): void {
    const requests = this.#requests;
    this.#requests = undefined;
    requests?.return?.().catch(() => {
      this.#ledger.counters.lateResults += 1;
    });
  }

  #send(packet: CallPacket): void {
    const place = this.#place;
    if (place !== undefined && !this.#isOver) place.half.connection.send(place.lane, packet);
  }

  #recordEnd(failure: RpcError | undefined): void {
    if (!this.#ledger.isRecording) return;
    const place =
      this.#place === undefined ? '-' : `c${this.#place.half.connection.id}.${this.#place.id}`;
    this.#ledger.record(`${place} ${this.#call.path} = ${failure?.code ?? 'OK'}`);
  }
}

function failureOf(status: StatusPacket): RpcError | undefined {
  if (status.failure === undefined) return undefined;
  const { code, text } = status.failure;
  return new RpcError(code, text, { metadata: status.trailers });
}

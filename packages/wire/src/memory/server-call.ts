// The server's end of a call: runs the handler, pulls its responses only as the caller reads
// them, and answers with one status. When the call ends early (cancelled, lost, deadline, stop)
// the handler's signal aborts and whatever it still produces is dropped and counted.

import { type Deadline, withDeadline } from '@bigfleet/base';
import type { Peer } from '../identity/identity.ts';
import {
  abortReason,
  checkMetadataEntry,
  copyMetadata,
  type Metadata,
  RpcError,
  tooLarge,
  toRpcError,
} from '../transport/status.ts';
import type { ByteMethod, CallContext } from '../transport/transport.ts';
import { Inbox, SendWindow } from './flow.ts';
import type { CallEnd, Half } from './half.ts';
import type { Ledger } from './ledger.ts';
import type { Lane } from './link.ts';
import type { CallPacket, OpenPacket } from './packet.ts';

export interface ServerCallOptions {
  readonly half: Half;
  /** Where the half finds this call; a duplicate's is not a whole number. */
  readonly key: number;
  readonly open: OpenPacket;
  readonly method: ByteMethod;
  readonly peer: Peer;
  readonly onOver: (call: ServerCall) => void;
}

interface Answer {
  readonly failure?: RpcError;
  readonly message?: Uint8Array;
  /** The handler ended by itself; otherwise its signal aborts. */
  readonly isHandlerDone?: boolean;
}

export class ServerCall implements CallEnd {
  readonly #half: Half;
  readonly #ledger: Ledger;
  readonly #lane: Lane;
  readonly #window: SendWindow;
  readonly #requests: Inbox;
  readonly #abort = new AbortController();
  readonly #deadline: Deadline | undefined;
  readonly #trailers = new Map<string, string>();
  readonly #options: ServerCallOptions;
  #isOver = false;

  constructor(options: ServerCallOptions) {
    const { half, open } = options;
    this.#options = options;
    this.#half = half;
    this.#ledger = half.connection.ledger;
    this.#lane = half.connection.lane('down', Math.floor(options.key));
    this.#window = new SendWindow(half.settings.windowBytes);
    this.#requests = new Inbox({
      windowBytes: half.settings.windowBytes,
      refund: (bytes) => this.#send({ kind: 'credit', bytes }),
      // A handler that stops reading leaves the window closed: the caller is held back.
      onReturn: () => {},
    });
    this.#ledger.open.serverCalls += 1;
    half.addCall(options.key, this);
    if (open.timeoutMs !== undefined) this.#deadline = this.#arm(open.timeoutMs);
  }

  /** Apart from construction: the call may be over before this returns. */
  start(): void {
    this.#ledger.supervise(this.#run(this.#options));
  }

  receive(packet: CallPacket): void {
    switch (packet.kind) {
      case 'data':
        this.#accept(packet.message);
        return;
      case 'end':
        this.#requests.end(undefined);
        return;
      case 'credit':
        this.#window.refund(packet.bytes);
        return;
      case 'cancel':
        this.#end(new RpcError('CANCELLED', 'the caller cancelled'));
        return;
      case 'lost':
        this.#end(new RpcError('CANCELLED', 'the call was lost'));
        return;
      case 'open':
      case 'status':
        this.#ledger.counters.latePackets += 1;
    }
  }

  fail(error: RpcError): void {
    this.#end(new RpcError('CANCELLED', `the caller is gone: ${error.message}`));
  }

  /** The server stops and waits no longer. */
  stop(): void {
    this.#answer({ failure: new RpcError('UNAVAILABLE', 'the server stopped') });
  }

  async #run({ method, open, peer }: ServerCallOptions): Promise<void> {
    if (open.message !== undefined) {
      this.#accept(open.message);
      this.#requests.end(undefined);
    }
    const context = this.#context(open, peer);
    this.#ledger.open.handlers += 1;
    try {
      if (method.kind === 'stream') await this.#pull(method.handle(this.#requests, context));
      else {
        const request = await this.#single();
        if (!this.#isOver) this.#respondOnce(await method.handle(request, context));
      }
    } catch (error) {
      this.#answer({ failure: this.#failure(error), isHandlerDone: true });
    } finally {
      this.#ledger.open.handlers -= 1;
    }
  }

  async #pull(responses: AsyncIterable<Uint8Array>): Promise<void> {
    const iterator = responses[Symbol.asyncIterator]();
    for (;;) {
      if (!this.#window.isOpen) await this.#window.wait();
      if (this.#isOver) {
        await iterator.return?.();
        return;
      }
      const step = await iterator.next();
      if (step.done === true) {
        this.#answer({ isHandlerDone: true });
        return;
      }
      this.#respond(step.value);
    }
  }

  /** A unary method has exactly one request. */
  async #single(): Promise<Uint8Array> {
    const first = await this.#requests.next();
    if (first.done === true) throw malformed('no request message');
    const second = await this.#requests.next();
    if (second.done !== true) throw malformed('more than one request message');
    return first.value;
  }

  #respond(message: Uint8Array): void {
    if (this.#isOver) this.#ledger.counters.lateResults += 1;
    else if (this.#fits(message)) {
      this.#window.spend(message);
      this.#send({ kind: 'data', message: new Uint8Array(message) });
    }
  }

  #respondOnce(message: Uint8Array): void {
    if (this.#isOver) this.#ledger.counters.lateResults += 1;
    else if (this.#fits(message)) this.#answer({ message, isHandlerDone: true });
  }

  #accept(message: Uint8Array): void {
    if (this.#fits(message)) this.#requests.push(message);
  }

  /** Ends the call when it does not. */
  #fits(message: Uint8Array): boolean {
    const { maxMessageBytes } = this.#half.settings;
    if (message.length <= maxMessageBytes) return true;
    this.#answer({ failure: tooLarge(message, maxMessageBytes) });
    return false;
  }

  #answer({ failure, message, isHandlerDone }: Answer): void {
    if (this.#isOver) {
      this.#ledger.counters.lateResults += 1;
      return;
    }
    this.#send({
      kind: 'status',
      failure: failure === undefined ? undefined : { code: failure.code, text: failure.message },
      trailers: this.#trailersWith(failure),
      message: message === undefined ? undefined : new Uint8Array(message),
    });
    this.#end(isHandlerDone === true ? undefined : failure);
  }

  /** Metadata that cannot be sent is the handler's bug; the caller still gets its status. */
  #trailersWith(failure: RpcError | undefined): Metadata {
    const trailers = new Map(this.#trailers);
    try {
      for (const [key, value] of copyMetadata(failure?.metadata)) trailers.set(key, value);
    } catch (error) {
      this.#failure(
        new TypeError('a handler failed with metadata that cannot be sent', { cause: error }),
      );
    }
    return trailers;
  }

  /** Past the router only RpcErrors arrive; a router that lets anything else through has a bug. */
  #failure(error: unknown): RpcError {
    const known = toRpcError(error);
    if (known !== undefined) return known;
    this.#ledger.counters.handlerBugs += 1;
    return new RpcError('INTERNAL', 'internal: the server failed; see its log', { cause: error });
  }

  #arm(timeoutMs: number): Deadline {
    const deadline = withDeadline(this.#ledger, timeoutMs, this.#abort.signal);
    deadline.signal.addEventListener('abort', () => {
      if (this.#isOver) return;
      this.#answer({ failure: new RpcError('DEADLINE_EXCEEDED', 'the deadline passed') });
    });
    return deadline;
  }

  #context({ path, metadata }: OpenPacket, peer: Peer): CallContext {
    return {
      path,
      peer,
      metadata,
      signal: this.#deadline?.signal ?? this.#abort.signal,
      setTrailer: (key, value) => {
        checkMetadataEntry(key, value);
        this.#trailers.set(key, value);
      },
    };
  }

  /** `failure` aborts the handler; without one it ended the call itself. */
  #end(failure: RpcError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ledger.open.serverCalls -= 1;
    this.#window.close();
    this.#requests.end(failure);
    this.#half.connection.release(this.#lane);
    this.#half.removeCall(this.#options.key);
    if (failure !== undefined) this.#abort.abort(abortReason(failure));
    this.#deadline?.dispose();
    this.#options.onOver(this);
  }

  #send(packet: CallPacket): void {
    if (!this.#isOver) this.#half.connection.send(this.#lane, packet);
  }
}

function malformed(text: string): RpcError {
  return new RpcError('INVALID_ARGUMENT', `message_malformed: ${text}`);
}

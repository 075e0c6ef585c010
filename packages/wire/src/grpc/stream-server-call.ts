// A streaming call at the server: requests come in through an inbox, the handler's messages go
// out through a pump. Both are bounded, so a slow peer slows the handler and a slow handler
// slows the peer.

import { RpcError, toRpcError } from '../transport/status.ts';
import type { ByteMethod } from '../transport/transport.ts';
import { Inbox } from './inbox.ts';
import { writeAheadBytes, writeAheadMessageCount } from './limits.ts';
import { Pump, type PumpSink } from './pump.ts';
import { type CallSetup, ServerCall } from './server-call.ts';

export type StreamMethod = Extract<ByteMethod, { kind: 'stream' }>;

const pumpLimits = { aheadBytes: writeAheadBytes, aheadMessageCount: writeAheadMessageCount };

export class StreamServerCall extends ServerCall implements PumpSink {
  readonly #method: StreamMethod;
  readonly #requests: Inbox;
  #pump: Pump | undefined;

  constructor(setup: CallSetup, method: StreamMethod) {
    super(setup);
    this.#method = method;
    this.#requests = new Inbox({ startRead: () => this.wire.startRead(), abandon: ignore });
  }

  protected begin(): void {
    this.#requests.open();
    try {
      this.#pump = new Pump(this.#method.handle(this.#requests, this), this, pumpLimits);
      this.#pump.start();
    } catch (error) {
      this.sourceFailed(error);
    }
  }

  onReceiveMessage(message: Uint8Array): void {
    this.#requests.push(message);
  }

  /**
   * A reset stream also looks like an end to grpc-js, a tick before it reports the cancel.
   * Reading makes it look again, so that a cancelled caller never seems to have finished.
   */
  onReceiveHalfClose(): void {
    this.wire.startRead();
    process.nextTick(this.#endRequests);
  }

  readonly #endRequests = (): void => this.#requests.end();

  write(message: Uint8Array, done: () => void): void {
    if (!this.open) return;
    if (this.isTooLarge(message)) {
      this.abandoned(new RpcError('CANCELLED', 'the response could not be sent'));
      return;
    }
    this.wire.sendMessage(message, done);
  }

  sourceEnded(): void {
    this.succeed();
    this.#requests.end();
  }

  sourceFailed(error: unknown): void {
    this.fail(error);
    this.#requests.end();
  }

  cleanUpFailed(error: unknown): void {
    if (toRpcError(error) === undefined) this.host.panicked(this.path, error);
  }

  /** The handler's pending read fails first, so that its generator can run its cleanup. */
  protected abandoned(reason: RpcError): void {
    this.#requests.fail(reason);
    this.#pump?.stop();
  }
}

function ignore(): void {}

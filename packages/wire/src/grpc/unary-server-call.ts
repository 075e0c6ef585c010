// A unary call at the server: one request, then the handler, then one response and the status.

import { RpcError } from '../transport/status.ts';
import type { ByteMethod } from '../transport/transport.ts';
import { type CallSetup, ServerCall } from './server-call.ts';

export type UnaryMethod = Extract<ByteMethod, { kind: 'unary' }>;

export class UnaryServerCall extends ServerCall {
  readonly #method: UnaryMethod;
  #request: Uint8Array | undefined;

  constructor(setup: CallSetup, method: UnaryMethod) {
    super(setup);
    this.#method = method;
  }

  protected begin(): void {
    this.wire.startRead();
  }

  onReceiveMessage(message: Uint8Array): void {
    if (this.#request !== undefined) {
      this.fail(
        new RpcError('INVALID_ARGUMENT', 'message_malformed: more than one request message'),
      );
      return;
    }
    this.#request = message;
    this.wire.startRead();
  }

  onReceiveHalfClose(): void {
    const request = this.#request;
    if (request === undefined) {
      this.fail(new RpcError('INVALID_ARGUMENT', 'message_malformed: no request message'));
      return;
    }
    try {
      this.#method.handle(request, this).then(this.#respond, this.#reject);
    } catch (error) {
      this.fail(error);
    }
  }

  protected abandoned(): void {
    this.#request = undefined;
  }

  readonly #respond = (response: Uint8Array): void => {
    // Our timer may fire just before that of grpc-js: whichever was first, the answer is the same.
    if (this.isOverdue) this.fail(new RpcError('DEADLINE_EXCEEDED', 'the deadline passed'));
    if (!this.open || this.isTooLarge(response)) return;
    // The status follows at once: HTTP/2 keeps the order, and waiting costs a round through the loop.
    this.wire.sendMessage(response, ignore);
    this.succeed();
  };

  readonly #reject = (error: unknown): void => this.fail(error);
}

function ignore(): void {}

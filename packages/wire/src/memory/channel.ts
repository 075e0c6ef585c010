// The client's side: calls share one connection, dialed with the first call and again with the
// next call after it died. Nothing is retried: a call that was on a dead connection has failed.

import type { Timer } from '@bigfleet/base';
import { RpcError } from '../transport/status.ts';
import type { CallOptions, Channel } from '../transport/transport.ts';
import { ClientCall } from './client-call.ts';
import type { Connection } from './connection.ts';
import { Inbox } from './flow.ts';
import type { Half, HalfOwner, Host } from './half.ts';
import type { Ledger } from './ledger.ts';
import type { Settings } from './settings.ts';

export interface MemoryChannelOptions {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly host: Host;
  readonly target: string;
  /** A connection without halves; the channel attaches its own and dials. */
  readonly newConnection: () => Connection;
  readonly onClose: (channel: MemoryChannel) => void;
}

export class MemoryChannel implements Channel, HalfOwner {
  readonly #options: MemoryChannelOptions;
  /** Every live half: the current one, and older ones that still finish calls. */
  readonly #halves = new Set<Half>();
  /** Calls that wait for the current half to open. */
  readonly #waiting = new Set<ClientCall>();
  #current: Half | undefined;
  #dialTimer: Timer | undefined;
  #isClosed = false;

  constructor(options: MemoryChannelOptions) {
    this.#options = options;
  }

  async unary(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const { responses } = this.#start(path, request, options);
    const first = await responses.next();
    if (first.done === true) throw new RpcError('INTERNAL', 'the server sent no response');
    const second = await responses.next();
    if (second.done === true) return first.value;
    await responses.return();
    throw new RpcError('INTERNAL', 'the server sent more than one response');
  }

  stream(
    path: string,
    requests: AsyncIterable<Uint8Array>,
    options?: CallOptions,
  ): AsyncIterableIterator<Uint8Array> {
    try {
      return this.#start(path, requests, options).responses;
    } catch (error) {
      if (error instanceof RpcError) return failedStream(error);
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dialTimer?.cancel();
    for (const call of this.#waiting) call.cancel('the channel was closed');
    for (const half of this.#halves) {
      half.die(new RpcError('CANCELLED', 'the channel was closed'), 'reset');
    }
    this.#options.onClose(this);
  }

  accepted(half: Half): void {
    this.#dialTimer?.cancel();
    half.opened();
    const calls = [...this.#waiting];
    this.#waiting.clear();
    for (const call of calls) call.attach(half);
  }

  draining(half: Half): void {
    if (this.#current === half) this.#current = undefined;
    if (half.calls.size === 0) this.#leave(half);
  }

  stray(): void {
    this.#options.ledger.counters.latePackets += 1;
  }

  idle(half: Half): void {
    if (half !== this.#current) this.#leave(half);
  }

  died(half: Half, error: RpcError): void {
    this.#halves.delete(half);
    if (half !== this.#current) return;
    this.#current = undefined;
    this.#dialTimer?.cancel();
    const calls = [...this.#waiting];
    this.#waiting.clear();
    for (const call of calls) call.fail(error);
  }

  #start(
    path: string,
    requests: Uint8Array | AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): ClientCall {
    const { ledger, settings, host } = this.#options;
    const onOver = (over: ClientCall): void => {
      this.#waiting.delete(over);
    };
    const call = new ClientCall({ ledger, settings, path, requests, options, onOver });
    if (call.isOver) return call;
    if (this.#isClosed) call.cancel('the channel is closed');
    else if (host.state !== 'up') call.fail(new RpcError('UNAVAILABLE', 'this host is down'));
    else this.#place(call);
    return call;
  }

  #place(call: ClientCall): void {
    const half = this.#current ?? this.#dial();
    if (half.state === 'open') call.attach(half);
    else if (this.#waiting.size < half.settings.maxCallsPerConnection) this.#waiting.add(call);
    else call.fail(new RpcError('RESOURCE_EXHAUSTED', 'too many calls on one connection'));
  }

  #dial(): Half {
    const { ledger, settings, host, newConnection, target } = this.#options;
    const half = newConnection().attach({ direction: 'up', host, settings, owner: this });
    this.#current = half;
    this.#halves.add(half);
    half.sendControl({ kind: 'dial' });
    this.#dialTimer = ledger.timers.after(settings.dialTimeoutMs, () => {
      half.die(new RpcError('UNAVAILABLE', `${target} does not answer`), 'reset');
    });
    return half;
  }

  #leave(half: Half): void {
    half.die(new RpcError('UNAVAILABLE', 'the server stopped'), 'reset');
  }
}

/** A stream that never was: its failure is thrown by the iterator, like every other. */
function failedStream(error: RpcError): AsyncIterableIterator<Uint8Array> {
  const inbox = new Inbox({ windowBytes: 1, refund: () => {}, onReturn: () => {} });
  inbox.end(error);
  return inbox;
}

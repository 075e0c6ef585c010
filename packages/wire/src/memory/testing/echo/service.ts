// The echo system's server: one method of every shape, as bytes. Each checks that what it gets
// is in order and without gap or repetition, and gives up when its call's signal aborts.

import { type Random, type Runtime, sleep } from '@bigfleet/base';
import { RpcError } from '../../../transport/status.ts';
import type { ByteMethod, ByteRouter, CallContext } from '../../../transport/transport.ts';
import type { EchoLedger } from './ledger.ts';

export const sayPath = '/echo.Echo/Say';
export const chatPath = '/echo.Echo/Chat';
export const countPath = '/echo.Echo/Count';
export const sumPath = '/echo.Echo/Sum';

export interface EchoServiceOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly ledger: EchoLedger;
  /** 2 where the network duplicates requests. */
  readonly mostExecutions: number;
  readonly largestFillerBytes: number;
}

export function createEchoService(options: EchoServiceOptions): ByteRouter {
  const service = new EchoService(options);
  const methods = new Map<string, ByteMethod>([
    [sayPath, { kind: 'unary', handle: (request, call) => service.say(request, call) }],
    [chatPath, { kind: 'stream', handle: (requests, call) => service.chat(requests, call) }],
    [countPath, { kind: 'stream', handle: (requests, call) => service.count(requests, call) }],
    [sumPath, { kind: 'stream', handle: (requests) => service.sum(requests) }],
  ]);
  return { find: (path) => methods.get(path) };
}

class EchoService {
  readonly #options: EchoServiceOptions;

  constructor(options: EchoServiceOptions) {
    this.#options = options;
  }

  async say(request: Uint8Array, call: CallContext): Promise<Uint8Array> {
    const { ledger, mostExecutions, random } = this.#options;
    ledger.executed(readHeader(request).call, mostExecutions);
    await this.#ponder(call);
    if (random.below(30) === 0) await forgotten(call.signal);
    if (random.below(20) === 0) throw new RpcError('FAILED_PRECONDITION', 'not in the mood');
    return request;
  }

  async *chat(requests: AsyncIterable<Uint8Array>, call: CallContext): AsyncIterable<Uint8Array> {
    for await (const request of this.#inOrder(requests)) {
      await this.#ponder(call);
      yield request;
    }
  }

  /** As many messages as the only request's sequence number says. */
  async *count(requests: AsyncIterable<Uint8Array>, call: CallContext): AsyncIterable<Uint8Array> {
    const { random, largestFillerBytes } = this.#options;
    for await (const request of requests) {
      const { call: id, sequence: wanted } = readHeader(request);
      for (let sequence = 0; sequence < wanted; sequence += 1) {
        if (random.below(4) === 0) await this.#ponder(call);
        yield writeMessage({ call: id, sequence }, fillerBytes(random, largestFillerBytes));
      }
    }
  }

  async *sum(requests: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let call = 0;
    let sequence = 0;
    for await (const request of this.#inOrder(requests)) {
      call = readHeader(request).call;
      sequence += 1;
    }
    yield writeMessage({ call, sequence }, 0);
  }

  async *#inOrder(requests: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const { ledger } = this.#options;
    let next = 0;
    for await (const request of requests) {
      const { call, sequence } = readHeader(request);
      ledger.check(
        sequence === next,
        () => `call ${call}: the server got message ${sequence} instead of ${next}`,
      );
      next += 1;
      yield request;
    }
  }

  async #ponder(call: CallContext): Promise<void> {
    const { random, runtime } = this.#options;
    if (random.below(3) === 0) await sleep(runtime, random.below(40), call.signal);
  }
}

/** A handler that never answers; only its signal ends it, or it shows as a leak. */
function forgotten(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

// The echo system's messages: which call, which place in its stream, and filler of a seeded
// length. Enough to notice a message that is missing, repeated, out of order or someone else's.

const HEADER_BYTES = 8;

export interface Header {
  readonly call: number;
  readonly sequence: number;
}

export function writeMessage(header: Header, fillerBytes: number): Uint8Array {
  const message = new Uint8Array(HEADER_BYTES + fillerBytes);
  const view = new DataView(message.buffer);
  view.setUint32(0, header.call);
  view.setUint32(4, header.sequence);
  message.fill(header.sequence & 0xff, HEADER_BYTES);
  return message;
}

export function readHeader(message: Uint8Array): Header {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  return { call: view.getUint32(0), sequence: view.getUint32(4) };
}

/** Mostly small, now and then large. */
export function fillerBytes(random: Random, largest: number): number {
  return random.below(8) === 0 ? random.below(largest) : random.below(32);
}

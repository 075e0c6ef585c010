// Flow control of one direction of one call, as HTTP/2 windows do it: the sender may have a
// bounded number of unconsumed bytes on the way, the receiver gives them back as its consumer
// reads. The bound is the window plus one message: a message is sent whole once any window is
// left, because the receiver must hold one whole message anyway to hand it over.

import { assert } from '@bigfleet/base';
import type { RpcError } from '../transport/status.ts';
import { windowBytes } from './packet.ts';

/** The sender's side. */
export class SendWindow {
  readonly #windowBytes: number;
  #outstandingBytes = 0;
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(bytes: number) {
    this.#windowBytes = bytes;
  }

  get isOpen(): boolean {
    return this.#isClosed || this.#outstandingBytes < this.#windowBytes;
  }

  /** Resolves when something may be sent, or when the call is over. One waiter: the call's pump. */
  wait(): Promise<void> {
    assert(this.#wake === undefined, 'a call has one pump per direction');
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  spend(message: Uint8Array): void {
    this.#outstandingBytes += windowBytes(message);
  }

  refund(bytes: number): void {
    this.#outstandingBytes = Math.max(0, this.#outstandingBytes - bytes);
    if (this.isOpen) this.#release();
  }

  close(): void {
    this.#isClosed = true;
    this.#release();
  }

  #release(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

interface Waiter {
  resolve(step: IteratorResult<Uint8Array, undefined>): void;
  reject(error: RpcError): void;
}

export interface InboxOptions {
  readonly windowBytes: number;
  /** Gives consumed bytes back to the sender. */
  readonly refund: (bytes: number) => void;
  /** The reader left before the end. */
  readonly onReturn: () => void;
}

/** Readers that wait at once; an async iterator normally has one. */
const MAX_WAITERS = 1_000;

/** The receiver's side: what arrived and was not read yet. */
export class Inbox implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #options: InboxOptions;
  #messages: Uint8Array[] = [];
  #waiters: Waiter[] = [];
  #consumedBytes = 0;
  #end: { readonly failure: RpcError | undefined } | undefined;
  #isReturned = false;
  #isLast = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  push(message: Uint8Array): void {
    if (this.#end !== undefined || this.#isReturned) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      this.#messages.push(message);
      return;
    }
    this.#consume(message);
    waiter.resolve({ done: false, value: message });
  }

  /** A message that came with the end: nobody waits for its credit. */
  pushLast(message: Uint8Array): void {
    this.#isLast = true;
    this.push(message);
  }

  /** Readers get what arrived before, then the failure once, then the end. */
  end(failure: RpcError | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { failure };
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const [index, waiter] of waiters.entries()) {
      if (index === 0) this.#settleEnd(waiter);
      else waiter.resolve(finished);
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const message = this.#messages.shift();
    if (message !== undefined) {
      this.#consume(message);
      return Promise.resolve({ done: false, value: message });
    }
    if (this.#isReturned) return Promise.resolve(finished);
    assert(this.#waiters.length < MAX_WAITERS, 'too many readers of one stream');
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject };
      if (this.#end === undefined) this.#waiters.push(waiter);
      else this.#settleEnd(waiter);
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isReturned) {
      this.#isReturned = true;
      this.#messages = [];
      for (const waiter of this.#waiters.splice(0)) waiter.resolve(finished);
      if (this.#end === undefined) this.#options.onReturn();
    }
    return Promise.resolve(finished);
  }

  #settleEnd(waiter: Waiter): void {
    const failure = this.#end?.failure;
    this.#end = { failure: undefined };
    if (failure === undefined) waiter.resolve(finished);
    else waiter.reject(failure);
  }

  /** Credit goes back in halves of the window: one small packet per many messages. */
  #consume(message: Uint8Array): void {
    if (this.#end !== undefined || this.#isLast) return;
    this.#consumedBytes += windowBytes(message);
    if (this.#consumedBytes * 2 < this.#options.windowBytes) return;
    const bytes = this.#consumedBytes;
    this.#consumedBytes = 0;
    this.#options.refund(bytes);
  }
}

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };

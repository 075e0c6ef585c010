// Incoming messages as a pull iterator. It asks the transport for the next message only
// while it holds less than its read-ahead, so a consumer that stops costs a bounded amount
// and HTTP/2 flow control stops the sender. Hand-rolled: an async generator here costs
// three more microtasks per message and cannot be ended while a read is pending.
//
// Cost per message: one promise, one result object; guarded by bench wire/bidi.

import { assert } from '@bigfleet/base';
import { readAheadBytes, readAheadMessageCount } from './limits.ts';

export interface InboxSource {
  /** Asks for one message; answered by push, end or fail, possibly before it returns. */
  startRead(): void;
  /** The consumer wants no more. */
  abandon(): void;
}

type Ending = { readonly kind: 'end' } | { readonly kind: 'fail'; readonly error: Error };

interface Waiter {
  readonly resolve: (step: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: Error) => void;
}

/** Concurrent next() calls; a for-await loop has one. */
const maxWaiterCount = 64;

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class Inbox implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: InboxSource;
  readonly #queue: Uint8Array[] = [];
  readonly #waiters: Waiter[] = [];
  #queuedBytes = 0;
  #reading = false;
  #ending: Ending | undefined;

  constructor(source: InboxSource) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Starts the read-ahead; before it, nothing is asked of the transport. */
  open(): void {
    this.#readMore();
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const value = this.#queue.shift();
    if (value !== undefined) {
      this.#queuedBytes -= value.length;
      this.#readMore();
      return Promise.resolve({ done: false, value });
    }
    if (this.#ending !== undefined) return this.#takeEnding(this.#ending);
    assert(this.#waiters.length < maxWaiterCount, 'too many concurrent reads of one stream');
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#readMore();
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#ending?.kind !== 'end') {
      this.#queue.length = 0;
      this.#settle({ kind: 'end' });
      this.#source.abandon();
    }
    return Promise.resolve(finished);
  }

  push(value: Uint8Array): void {
    this.#reading = false;
    if (this.#ending !== undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      this.#queue.push(value);
      this.#queuedBytes += value.length;
    } else {
      waiter.resolve({ done: false, value });
    }
    this.#readMore();
  }

  end(): void {
    if (this.#ending === undefined) this.#settle({ kind: 'end' });
  }

  /** Thrown to the consumer once, after the messages that came before it. */
  fail(error: Error): void {
    if (this.#ending === undefined) this.#settle({ kind: 'fail', error });
  }

  #readMore(): void {
    if (this.#reading || this.#ending !== undefined) return;
    if (this.#queue.length >= readAheadMessageCount || this.#queuedBytes >= readAheadBytes) return;
    this.#reading = true;
    this.#source.startRead();
  }

  #settle(ending: Ending): void {
    this.#ending = ending;
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      this.#takeEnding(this.#ending).then(resolve, reject);
    }
  }

  #takeEnding(ending: Ending): Promise<IteratorResult<Uint8Array, undefined>> {
    if (ending.kind === 'end') return Promise.resolve(finished);
    this.#ending = { kind: 'end' };
    return Promise.reject(ending.error);
  }
}

/** A stream that failed before it began. */
export function failedInbox(error: Error): Inbox {
  const inbox = new Inbox({ startRead: () => {}, abandon: () => {} });
  inbox.fail(error);
  return inbox;
}

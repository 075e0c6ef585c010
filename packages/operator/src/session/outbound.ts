// What the operator sends on one stream, pulled by the transport one frame at a time, so that a slow
// shard slows the pulling and never fills a buffer of ours. Hello comes first. Then, whenever the
// transport can take a frame: responses (the shard's executors wait for them), node identities, the
// roll-up.
//
// Bounds: one roll-up, where a newer one replaces an older one that was not sent; `outboxCapacity`
// responses, where the newest is dropped and counted, because one behind 256 others would come
// after the shard gave up and asked again; identities one per machine.

import { assert, BoundedQueue } from '@bigfleet/base';
import type { Counter } from '@bigfleet/telemetry';
import type { RequestRef } from '../rollup/capacity-request.ts';

export interface PendingRollup {
  readonly bytes: Uint8Array;
  /** What its confirmation will acknowledge. */
  readonly unacknowledged: readonly RequestRef[];
  /** May be sent while an earlier one is unanswered. Early ones wait, so that answers stay paired. */
  readonly isPeriodic: boolean;
}

export interface OutboundOptions {
  readonly hello: Uint8Array;
  readonly outboxCapacity: number;
  readonly dropped: Counter;
  /** The next identity frame, if one is due. */
  readonly takeIdentities: () => Uint8Array | undefined;
  readonly hasUnansweredRollup: () => boolean;
  /** The transport took it: as far as we can know, it is written. */
  readonly onRollupSent: (rollup: PendingRollup) => void;
}

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class Outbound implements AsyncIterableIterator<Uint8Array> {
  readonly #options: OutboundOptions;
  readonly #outbox: BoundedQueue<Uint8Array>;
  #hello: Uint8Array | undefined;
  #rollup: PendingRollup | undefined;
  #repliesInARow = 0;
  #waiter: ((step: IteratorResult<Uint8Array>) => void) | undefined;
  #isOver = false;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#hello = options.hello;
    this.#outbox = new BoundedQueue(options.outboxCapacity);
  }

  reply(frame: Uint8Array): 'queued' | 'dropped' {
    if (this.#outbox.push(frame) === 'refused') {
      this.#options.dropped.inc();
      return 'dropped';
    }
    this.wake();
    return 'queued';
  }

  replaceRollup(rollup: PendingRollup): void {
    this.#rollup = rollup;
    this.wake();
  }

  /** Something may have become ready: an identity, or the answer that a roll-up waited for. */
  wake(): void {
    const waiter = this.#waiter;
    if (waiter === undefined) return;
    const frame = this.#take();
    if (frame === undefined) return;
    this.#waiter = undefined;
    waiter({ done: false, value: frame });
  }

  /** Idempotent. */
  end(): void {
    this.#isOver = true;
    this.#outbox.clear();
    this.#rollup = undefined;
    this.#waiter?.(finished);
    this.#waiter = undefined;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isOver) return Promise.resolve(finished);
    const frame = this.#take();
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame });
    assert(this.#waiter === undefined, 'a stream has one reader');
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.end();
    return finished;
  }

  #take(): Uint8Array | undefined {
    const hello = this.#hello;
    if (hello !== undefined) {
      this.#hello = undefined;
      return hello;
    }
    // A shard that asks without pause must not keep its own picture of our demand from us.
    const isRollupStarved = this.#repliesInARow >= this.#options.outboxCapacity;
    if (isRollupStarved) return this.#takeRollup() ?? this.#takeReply();
    return this.#takeReply() ?? this.#options.takeIdentities() ?? this.#takeRollup();
  }

  #takeReply(): Uint8Array | undefined {
    const reply = this.#outbox.shift();
    this.#repliesInARow = reply === undefined ? 0 : this.#repliesInARow + 1;
    return reply;
  }

  #takeRollup(): Uint8Array | undefined {
    this.#repliesInARow = 0;
    const rollup = this.#rollup;
    if (rollup === undefined) return undefined;
    if (!rollup.isPeriodic && this.#options.hasUnansweredRollup()) return undefined;
    this.#rollup = undefined;
    this.#options.onRollupSent(rollup);
    return rollup.bytes;
  }
}

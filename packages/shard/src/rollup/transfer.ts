// Roll-ups on their way to the engine's thread, in the order of the calls. A thread takes its messages in
// turn, and a message costs more than a small roll-up in it, so:
//
//   - so many bytes at a time are on their way, the others wait outside of the thread's queue; with every
//     roll-up of thousands of clusters in it, a cycle would wait for all of them;
//   - those on their way that leave together are one message. An idle thread gets a roll-up at once. Those
//     that come while it works gather until it answers, or are worth a message that waits behind the one
//     in work, so that the thread need not stand still for the main thread's turn;
//   - the bytes of a message are one buffer, which is transferred, and columns beside it.
//
// Bound: one waiting per cluster, because a cluster's next roll-up is offered after the verdict.

import type { RollupOrder, RollupVerdict } from './admission.ts';

/** Keeps the thread busy and costs a cycle a few milliseconds. */
const WINDOW_BYTES = 65_536;
/** Two that are larger pass together up to here: alone, the thread would wait for each next one. */
const PAIR_BYTES = 524_288;
const MAX_MESSAGES = 2;
/** Worth a message of their own while another is in work. */
const WORTHWHILE_BYTES = 16_384;

export type PostRollups = (orders: readonly RollupOrder[]) => Promise<readonly RollupVerdict[]>;

interface Waiting {
  readonly order: RollupOrder;
  readonly verdict: PromiseWithResolvers<RollupVerdict>;
}

export class RollupTransfer {
  readonly #post: PostRollups;
  #waiting: Waiting[] = [];
  /** Of those that wait, the first: they are on their way, and leave with the next message. */
  #gatheredCount = 0;
  #gatheredBytes = 0;
  /** On their way: gathered, or in a message without an answer. */
  #openCount = 0;
  #openBytes = 0;
  #messageCount = 0;
  #isDue = false;

  constructor(post: PostRollups) {
    this.#post = post;
  }

  /** Rejects when its message is not answered. */
  add(order: RollupOrder): Promise<RollupVerdict> {
    const verdict = Promise.withResolvers<RollupVerdict>();
    this.#waiting.push({ order, verdict });
    this.#gather();
    return verdict.promise;
  }

  #gather(): void {
    for (;;) {
      const bytes = this.#waiting[this.#gatheredCount]?.order.bytes.length;
      if (bytes === undefined || !this.#hasRoomFor(bytes)) break;
      this.#gatheredCount += 1;
      this.#gatheredBytes += bytes;
      this.#openCount += 1;
      this.#openBytes += bytes;
    }
    this.#sendSoon();
  }

  /** One that is larger than both limits passes alone. */
  #hasRoomFor(bytes: number): boolean {
    if (this.#openCount === 0) return true;
    return this.#openBytes + bytes <= (this.#openCount === 1 ? PAIR_BYTES : WINDOW_BYTES);
  }

  /** After whatever else is gathered in this turn, so that it is one message. */
  #sendSoon(): void {
    if (this.#isDue || this.#gatheredCount === 0) return;
    const isWorthwhile =
      this.#gatheredBytes >= WORTHWHILE_BYTES && this.#messageCount < MAX_MESSAGES;
    if (this.#messageCount > 0 && !isWorthwhile) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#send();
    });
  }

  #send(): void {
    const batch = this.#waiting.splice(0, this.#gatheredCount);
    const bytes = this.#gatheredBytes;
    this.#gatheredCount = 0;
    this.#gatheredBytes = 0;
    this.#messageCount += 1;
    this.#post(batch.map(({ order }) => order))
      .then(
        (verdicts) => {
          for (const [at, { verdict }] of batch.entries()) {
            verdict.resolve(verdicts[at] as RollupVerdict);
          }
        },
        (error: unknown) => {
          for (const { verdict } of batch) verdict.reject(error);
        },
      )
      .finally(() => {
        this.#messageCount -= 1;
        this.#openCount -= batch.length;
        this.#openBytes -= bytes;
        this.#gather();
      });
  }
}

/** A buffer and an object per roll-up would cost more than the bytes in them. */
export interface PackedRollups {
  /** One after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly clusters: readonly string[];
  /** Where each one ends. */
  readonly ends: readonly number[];
  readonly guarded: readonly boolean[];
}

/** Copies the bytes: those of an order belong to whoever made it. */
export function packRollups(orders: readonly RollupOrder[]): PackedRollups {
  const ends: number[] = [];
  let length = 0;
  for (const { bytes } of orders) {
    length += bytes.length;
    ends.push(length);
  }
  const packed = new Uint8Array(length);
  for (const [at, { bytes }] of orders.entries()) {
    packed.set(bytes, ends[at]! - bytes.length);
  }
  return {
    bytes: packed,
    clusters: orders.map(({ cluster }) => cluster),
    ends,
    guarded: orders.map(({ isGuarded }) => isGuarded),
  };
}

export function* unpackRollups(packed: PackedRollups): Iterable<RollupOrder> {
  let start = 0;
  for (const [at, cluster] of packed.clusters.entries()) {
    const end = packed.ends[at]!;
    const bytes = packed.bytes.subarray(start, end);
    yield { cluster, bytes, isGuarded: packed.guarded[at] as boolean };
    start = end;
  }
}

// Roll-ups on their way to the engine's thread. A thread takes its messages in turn, and a message costs
// more than a small roll-up in it, so each roll-up passes three stations, in the order of the calls:
//
//   RollupWindow   so many bytes at a time are on their way, the others wait outside of the thread's
//                  queue; with every roll-up of thousands of clusters in it, a cycle would wait for all
//   RollupBatches  those on their way that leave together are one message
//   packRollups    its bytes are one buffer, which is transferred, and columns beside it
//
// Bound: one waiting per cluster, because a cluster's next roll-up is offered after the verdict.

import type { RollupOrder, RollupVerdict } from './admission.ts';

const WINDOW_BYTES = 65_536;
/** Two that are larger pass together up to here: alone, the thread would wait for each next one. */
const PAIR_BYTES = 524_288;

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/** Keeps the thread busy and costs a cycle a few milliseconds. */
export class RollupWindow {
  #waiting: Waiting[] = [];
  /** First that waits; those before it are gone. */
  #head = 0;
  #openBytes = 0;
  #openCount = 0;

  /** In turn, so that `work` posts in the order of the calls. Whatever it settles to makes room. */
  async pass<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.#head < this.#waiting.length || !this.#hasRoomFor(bytes)) {
      await new Promise<void>((enter) => this.#waiting.push({ bytes, enter }));
    } else {
      this.#open(bytes);
    }
    try {
      return await work();
    } finally {
      this.#openBytes -= bytes;
      this.#openCount -= 1;
      this.#admit();
    }
  }

  #admit(): void {
    for (;;) {
      const next = this.#waiting[this.#head];
      if (next === undefined) break;
      if (!this.#hasRoomFor(next.bytes)) return;
      this.#head += 1;
      this.#open(next.bytes);
      next.enter();
    }
    this.#waiting = [];
    this.#head = 0;
  }

  #open(bytes: number): void {
    this.#openBytes += bytes;
    this.#openCount += 1;
  }

  /** One that is larger than both limits passes alone. */
  #hasRoomFor(bytes: number): boolean {
    if (this.#openCount === 0) return true;
    return this.#openBytes + bytes <= (this.#openCount === 1 ? PAIR_BYTES : WINDOW_BYTES);
  }
}

const MAX_OPEN = 2;
/** Worth a message of their own while another is in work. */
const WORTHWHILE_BYTES = 16_384;

export type PostRollups = (orders: readonly RollupOrder[]) => Promise<readonly RollupVerdict[]>;

interface Gathered {
  readonly order: RollupOrder;
  readonly verdict: PromiseWithResolvers<RollupVerdict>;
}

/**
 * An idle thread gets a roll-up at once. Those that come while it works gather until it answers, or
 * are worth a message that waits behind the one in work, so that the thread need not stand still for
 * the main thread's turn.
 */
export class RollupBatches {
  readonly #post: PostRollups;
  #gathered: Gathered[] = [];
  #gatheredBytes = 0;
  #openCount = 0;
  #isDue = false;

  constructor(post: PostRollups) {
    this.#post = post;
  }

  add(order: RollupOrder): Promise<RollupVerdict> {
    const verdict = Promise.withResolvers<RollupVerdict>();
    this.#gathered.push({ order, verdict });
    this.#gatheredBytes += order.bytes.length;
    this.#sendSoon();
    return verdict.promise;
  }

  /** At once: what is posted next must not overtake them. */
  flush(): void {
    if (this.#gathered.length === 0) return;
    const batch = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#openCount += 1;
    const posted = this.#post(batch.map(({ order }) => order));
    posted
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
        this.#openCount -= 1;
        this.#sendSoon();
      });
  }

  /** After whatever else is admitted in this turn, so that it is one message. */
  #sendSoon(): void {
    if (this.#isDue || this.#gathered.length === 0) return;
    const isWorthwhile = this.#gatheredBytes >= WORTHWHILE_BYTES && this.#openCount < MAX_OPEN;
    if (this.#openCount > 0 && !isWorthwhile) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.flush();
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

// Roll-ups on their way to the engine's thread, several in one message: a message between threads
// costs more than a small roll-up in it. An idle thread gets a roll-up at once. What comes while it
// works gathers until it answers, or is worth a message that waits behind the one in work, so that
// the thread need not stand still for the main thread's turn. In the order of the calls.
//
// Bound: what the window (rollup-window.ts) lets in.

import type { RollupVerdict } from '../engine-host/answer.ts';
import type { RollupOrder } from '../engine-host/engine-host.ts';

const MAX_OPEN = 2;
/** Worth a message of their own while another is in work. */
const WORTHWHILE_BYTES = 16_384;

export type PostRollups = (orders: readonly RollupOrder[]) => Promise<readonly RollupVerdict[]>;

interface Gathered {
  readonly order: RollupOrder;
  readonly verdict: PromiseWithResolvers<RollupVerdict>;
}

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

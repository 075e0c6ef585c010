// How many readers of one kind are served at once. A stream that follows never ends by itself, so
// without a bound a leaking dashboard would take the shard with it.

import { BigFleetError } from '@bigfleet/base';

export class ReaderSlots {
  readonly #max: number;
  readonly #what: string;
  #takenCount = 0;

  constructor(max: number, what: string) {
    this.#max = max;
    this.#what = what;
  }

  /** Throws when all are taken. Dispose of what it returns. */
  take(): Disposable {
    if (this.#takenCount >= this.#max) {
      const text = `${this.#max} readers are served already: ${this.#what}`;
      throw new BigFleetError('feed_readers_exceeded', text);
    }
    this.#takenCount += 1;
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#takenCount -= 1;
        isTaken = false;
      },
    };
  }
}

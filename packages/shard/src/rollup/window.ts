// Roll-ups on their way to the engine's thread: so many bytes at a time, the others wait here, in
// order. A thread takes its messages in turn; with every roll-up of thousands of clusters in its
// queue, a cycle would wait for all of them. What is in the window keeps the thread busy and costs a
// cycle a few milliseconds.
//
// Bound: one waiting per cluster, because a cluster's next roll-up is offered after the verdict.

const WINDOW_BYTES = 65_536;
/** Two that are larger pass together up to here: alone, the thread would wait for each next one. */
const PAIR_BYTES = 524_288;

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

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

// One critical section per machine id, first come first served. On a single-threaded loop every
// await is a preemption point: without it two Configures could both pass the position check while
// the first one's commit is on its way. Different machines never wait for each other.

import { BigFleetError } from '@bigfleet/base';

/** A caller that floods one machine is refused before it fills the memory. */
const MAX_WAITING_PER_KEY = 4_096;

interface Line {
  tail: Promise<void>;
  waitingCount: number;
}

export class KeyedSections {
  readonly #lines = new Map<string, Line>();
  #idle: PromiseWithResolvers<void> | undefined;

  /** For calls from outside: bounded, and a caller that gave up while waiting is not served. */
  runCall<T>(key: string, signal: AbortSignal, body: () => Promise<T>): Promise<T> {
    if ((this.#lines.get(key)?.waitingCount ?? 0) >= MAX_WAITING_PER_KEY) {
      throw new BigFleetError('provider_busy', 'too many calls wait for this machine');
    }
    return this.run(key, () => {
      if (signal.aborted) throw new BigFleetError('cancelled', 'the caller gave up while waiting');
      return body();
    });
  }

  /** For the kit's own steps, at most a few per machine. */
  async run<T>(key: string, body: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { tail: Promise.resolve(), waitingCount: 0 };
    this.#lines.set(key, line);
    const before = line.tail;
    const mine = Promise.withResolvers<void>();
    line.tail = mine.promise;
    line.waitingCount++;
    try {
      await before;
      return await body();
    } finally {
      line.waitingCount--;
      mine.resolve();
      if (line.waitingCount === 0) this.#forget(key);
    }
  }

  /** Resolves when no section is open; new ones may open afterwards. */
  async whenIdle(): Promise<void> {
    while (this.#lines.size > 0) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
  }

  #forget(key: string): void {
    this.#lines.delete(key);
    if (this.#lines.size > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}

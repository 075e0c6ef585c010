// Work of a stand-in over the network: keys that are due, each worked on by one worker at a time, again
// after a pause when it failed. What failed is told once per attempt and never thrown.

import { describeThrown, type Runtime, sleep } from '@bigfleet/base';

export interface RetryingWorkOptions {
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  readonly workers: number;
  /** A text says why the key must come again; a key that became due meanwhile comes again anyway. */
  readonly work: (key: string) => Promise<string | undefined>;
  readonly onProblem: (problem: string) => void;
}

const RETRY_MS = 500;

export class RetryingWork {
  readonly #options: RetryingWorkOptions;
  readonly #due = new Set<string>();
  readonly #busy = new Set<string>();

  constructor(options: RetryingWorkOptions) {
    this.#options = options;
  }

  add(key: string): void {
    this.#due.add(key);
    this.#fill();
  }

  #fill(): void {
    const { workers, signal } = this.#options;
    for (const key of this.#due) {
      if (signal.aborted || this.#busy.size >= workers) return;
      if (this.#busy.has(key)) continue;
      this.#due.delete(key);
      this.#busy.add(key);
      this.#attend(key).catch((bug: unknown) => this.#options.onProblem(describeThrown(bug)));
    }
  }

  async #attend(key: string): Promise<void> {
    const { runtime, signal, work, onProblem } = this.#options;
    const problem = await work(key).catch((error: unknown) => describeThrown(error));
    if (problem !== undefined && !signal.aborted) {
      onProblem(`${key}: ${problem}`);
      await sleep(runtime, RETRY_MS, signal).catch(() => undefined);
      this.#due.add(key);
    }
    this.#busy.delete(key);
    this.#fill();
  }
}

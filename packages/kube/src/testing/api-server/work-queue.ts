// Work of the server's own controllers: keys that are due, each once, worked off in later turns of the event
// loop. Controllers are asynchronous on a real server, and a test must see the state in between.

import type { Runtime, Timer } from '@bigfleet/base';

export interface WorkQueueOptions {
  readonly runtime: Runtime;
  readonly delayMs: number;
  readonly work: (key: string) => void;
}

/** Keys worked off before the loop gets a turn. */
const BATCH = 200;

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #due = new Set<string>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  add(key: string): void {
    if (this.#isStopped) return;
    this.#due.add(key);
    this.#timer ??= this.#options.runtime.timers.after(this.#options.delayMs, () => this.#run());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#due.clear();
  }

  #run(): void {
    this.#timer = undefined;
    let left = BATCH;
    for (const key of this.#due) {
      if (left-- === 0) break;
      this.#due.delete(key);
      this.#options.work(key);
    }
    if (this.#due.size > 0 && !this.#isStopped) {
      this.#timer ??= this.#options.runtime.timers.after(0, () => this.#run());
    }
  }
}

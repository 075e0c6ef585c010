// One reader of the feed: its place in the log, and whether it fell too far behind. Holds no frames:
// what it has not read is the shared log's.

import type { Selection } from './selection.ts';

export class FeedReader {
  readonly selection: Selection;
  /** Everything up to here was handed over. */
  cycle: number;
  /** While a snapshot is read, only what the log keeps is the limit. */
  isInSnapshot = false;
  isLagged = false;
  #wake: (() => void) | undefined;

  constructor(selection: Selection, cycle: number) {
    this.selection = selection;
    this.cycle = cycle;
  }

  /** The log grew, or the feed ends. */
  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves at the next `wake`, or when the signal aborts. */
  woken(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

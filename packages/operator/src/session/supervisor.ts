// Owns every promise that nobody awaits. What runs here handles its own expected failures, so a
// rejection is a bug: it is kept as the reason of `signal`, which ends the session client instead
// of leaving it half alive.

export class Supervisor {
  readonly #fatal = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** Aborts with the first bug. */
  get signal(): AbortSignal {
    return this.#fatal.signal;
  }

  watch(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => this.#fatal.abort(error))
      .finally(() => this.#running.delete(watched));
    this.#running.add(watched);
  }

  /** Resolves when nothing runs any more, including what running work started meanwhile. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

// The named supervisor of everything that runs without a caller. Such work converts every expected
// failure itself; what still rejects is a bug, and a bug ends the process instead of leaving a
// machine that nobody works on.

export class Background {
  readonly #running = new Set<Promise<void>>();

  spawn(work: () => Promise<void>): void {
    const running = work()
      .catch(crash)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

/** Out of the promise chain, where the process's own handler sees it. */
function crash(bug: unknown): void {
  queueMicrotask(() => {
    throw bug;
  });
}

// Looks at the leadership that many replies share (coordinator §3.3): at most one is in flight, and
// whoever asks meanwhile waits for the next one, because a look that began earlier says nothing
// about data taken later. Cost: one etcd round trip per batch, however many wait.

export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** `look` settles by itself, in bounded time. */
  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  /** A look that begins after this call. */
  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#begin();
    const begin = (): Promise<T> => this.#begin();
    this.#next = this.#running.then(begin, begin);
    return this.#next;
  }

  #begin(): Promise<T> {
    this.#next = undefined;
    const running = this.#look();
    this.#running = running;
    const forget = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(forget, forget);
    return running;
  }
}

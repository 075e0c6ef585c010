// Work that repeats beside a drill, one round after the other, until its scope ends. A round that
// fails ends the work, and the failure comes out where the scope ends: nothing fails unseen.

import { sleep } from '../../toolkit/index.ts';

export class Background implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(everyMs: number, round: () => Promise<void> | void) {
    this.#running = this.#run(everyMs, round);
    this.#running.catch(() => {}); // kept: dispose throws it
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the scope ended'));
    await this.#running;
  }

  async #run(everyMs: number, round: () => Promise<void> | void): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await round();
      await sleep(everyMs, signal).catch(() => {}); // aborted: the loop looks at the signal
    }
  }
}

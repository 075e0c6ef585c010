// A process that is started again some seconds after somebody killed it, with the same command line and so
// with its data, as a supervisor would. Only a kill is answered so: a process that ends by itself has a
// reason that nobody should miss, and ends the demo.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import type { Child, Running } from './child.ts';

export interface RevivedChildOptions {
  readonly runtime: Runtime;
  readonly start: () => Child;
  /** Between the kill and the new start. */
  readonly afterMs: number;
  readonly tell: (line: string) => void;
}

/** Long enough to see that the clusters do not need it. */
export const REVIVED_AFTER_MS = 10_000;

export class RevivedChild implements Running {
  readonly name: string;
  readonly died: Promise<never>;
  readonly #options: RevivedChildOptions;
  readonly #ender = new AbortController();
  readonly #die: (error: unknown) => void;
  #child: Child;
  #isServing = false;
  #keeping: Promise<void> | undefined;
  #revivalCount = 0;

  constructor(options: RevivedChildOptions) {
    this.#options = options;
    this.#child = options.start();
    this.name = this.#child.name;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.died = promise;
    this.#die = reject;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** False from its kill until it is ready again. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** How many times it was started again. */
  get revivalCount(): number {
    return this.#revivalCount;
  }

  /** From here on a kill is answered. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#child.ready(signal);
    this.#isServing = true;
    this.#keeping ??= this.#keep().catch(this.#die);
  }

  /** Throws when it is down already. */
  kill(): { readonly pid: number | undefined } {
    if (!this.#isServing) {
      throw new BigFleetError('flag_invalid', `${this.name} is down already, and comes back`);
    }
    const { pid } = this.#child;
    this.#child.kill();
    return { pid };
  }

  async stop(): Promise<void> {
    this.#ender.abort(new BigFleetError('cancelled', 'the demo ends'));
    await this.#child.stop();
    await this.#keeping;
    // One that was just being started.
    await this.#child.stop();
  }

  async #keep(): Promise<void> {
    const { runtime, start, afterMs, tell } = this.#options;
    const { signal } = this.#ender;
    for (;;) {
      const ended = await this.#child.ended;
      if (signal.aborted) return;
      if (ended.signal === undefined) throw this.#child.deathOf(ended.text);
      this.#isServing = false;
      const again = `it starts again in ${afterMs / 1_000} s, with its data`;
      tell(`${this.name} was killed (${ended.text}); machines and Pods stay; ${again}`);
      try {
        await sleep(runtime, afterMs, signal);
        this.#child = start();
        await this.#child.ready(signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      this.#isServing = true;
      this.#revivalCount += 1;
      tell(`${this.name} serves again as process ${this.#child.pid}`);
    }
  }
}

// Collects what anybody could see from outside, in order, and every broken law. Steps are also where
// crashes fall: a plan names step numbers, so that each of them can be tried.

import type { EventLog } from '@bigfleet/wire/memory';

const MAX_BREACHES = 20;

export class Witness {
  readonly breaches: string[] = [];
  #stepCount = 0;
  /** Called with the number of each step, before whoever made it goes on. */
  onStep: (step: number) => void = () => {};
  #log: EventLog | undefined;

  get stepCount(): number {
    return this.#stepCount;
  }

  /** The log's sink is `seen`: lines of the network and of `step` are one history. */
  bind(log: EventLog): void {
    this.#log = log;
  }

  readonly seen = (): void => {
    this.#stepCount += 1;
    this.onStep(this.#stepCount);
  };

  step(line: string): void {
    this.#log?.append(line);
  }

  broken(law: string): void {
    this.#log?.append(`BROKEN ${law}`);
    if (this.breaches.length < MAX_BREACHES) this.breaches.push(law);
  }
}

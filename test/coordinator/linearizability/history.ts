// What clients did and heard, in the one order that the recording process saw: an operation is
// called at one point and returns at a later one, or never (unknown). Operations that certainly had
// no effect are left out. Bounded by the run that records it.

import type { Answer, Operation, Outcome } from './model.ts';

export interface Entry {
  readonly client: string;
  readonly operation: Operation;
  /** Undefined: nobody heard; it may have happened at any time after the call, or never. */
  readonly answer: Answer | undefined;
  readonly calledAt: number;
  /** Infinity when unknown. */
  readonly returnedAt: number;
}

export class History {
  readonly #entries = new Map<string, Entry[]>();
  #clock = 0;
  #heardCount = 0;

  /** Operations that were answered so far. */
  get heardCount(): number {
    return this.#heardCount;
  }

  get entries(): ReadonlyMap<string, readonly Entry[]> {
    return this.#entries;
  }

  async record(
    client: string,
    register: string,
    operation: Operation,
    run: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const calledAt = ++this.#clock;
    const outcome = await run();
    const returnedAt = ++this.#clock;
    if (outcome.kind === 'none') return outcome;
    const isHeard = outcome.kind !== 'unknown';
    if (isHeard) this.#heardCount += 1;
    const entries = this.#entries.get(register) ?? [];
    entries.push({
      client,
      operation,
      answer: isHeard ? outcome : undefined,
      calledAt,
      returnedAt: isHeard ? returnedAt : Number.POSITIVE_INFINITY,
    });
    this.#entries.set(register, entries);
    return outcome;
  }
}

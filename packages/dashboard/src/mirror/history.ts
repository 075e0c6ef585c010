// The steps of one shard, newest last, each with what it overwrote: walked backwards on a copy they give
// any moment that is kept. The bound is one for the whole fleet: the oldest step of any shard goes first,
// so that all shards can be shown from the same moment on.

import type { NeedUndo } from './need-table.ts';

/** What a shard says about itself; replaced as a whole. */
export interface Step<Head> {
  /** Never before the step before it. */
  readonly atMs: number;
  /** Before the step. */
  readonly head: Head;
  readonly rows: Uint8Array;
  readonly needs: readonly NeedUndo[];
  readonly bytes: number;
}

const STEP_BYTES = 160;

/** A history as its budget sees it. */
interface Droppable {
  readonly oldestMs: number;
  dropOldest(): { readonly atMs: number; readonly bytes: number } | undefined;
}

export class History<Head> implements Droppable {
  readonly #budget: HistoryBudget;
  /** What was dropped leaves its place empty at once, and the list when half of it is places. */
  #steps: (Step<Head> | undefined)[] = [];
  #first = 0;

  constructor(budget: HistoryBudget) {
    this.#budget = budget;
    budget.join(this);
  }

  get oldestMs(): number {
    return this.#steps[this.#first]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  get newestMs(): number {
    return this.#steps.at(-1)?.atMs ?? 0;
  }

  /** `heldBytes`: what only this step holds besides its rows. */
  push(step: Omit<Step<Head>, 'bytes'>, heldBytes: number): void {
    const bytes = STEP_BYTES + step.rows.length + heldBytes;
    const atMs = Math.max(step.atMs, this.newestMs);
    this.#steps.push({ ...step, atMs, bytes });
    this.#budget.added(bytes);
  }

  /** Steps after the moment, newest first. */
  *after(atMs: number): Generator<Step<Head>> {
    for (let at = this.#steps.length - 1; at >= this.#first; at--) {
      const step = this.#steps[at] as Step<Head>;
      if (step.atMs <= atMs) return;
      yield step;
    }
  }

  /** Forgets the oldest step: what was before it can no longer be shown. */
  dropOldest(): Pick<Step<Head>, 'atMs' | 'bytes'> | undefined {
    const step = this.#steps[this.#first];
    if (step === undefined) return undefined;
    this.#steps[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > 1_024 && this.#first * 2 > this.#steps.length) {
      this.#steps = this.#steps.slice(this.#first);
      this.#first = 0;
    }
    return step;
  }

  *all(): Generator<Step<Head>> {
    for (let at = this.#first; at < this.#steps.length; at++) yield this.#steps[at] as Step<Head>;
  }
}

export class HistoryBudget {
  readonly #maxBytes: number;
  readonly #maxMs: number;
  readonly #histories: Droppable[] = [];
  bytes = 0;
  /** Moments before it cannot be shown any more. */
  droppedThroughMs = 0;

  constructor(maxBytes: number, maxMs: number) {
    this.#maxBytes = maxBytes;
    this.#maxMs = maxMs;
  }

  join(history: Droppable): void {
    this.#histories.push(history);
  }

  added(bytes: number): void {
    this.bytes += bytes;
  }

  /** Holds the bounds; `nowMs` is the time of the newest step. */
  trim(nowMs: number): void {
    for (;;) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      const isOld = oldest.oldestMs < nowMs - this.#maxMs;
      if (this.bytes <= this.#maxBytes && !isOld) return;
      const dropped = oldest.dropOldest();
      if (dropped === undefined) return;
      this.bytes -= dropped.bytes;
      this.droppedThroughMs = Math.max(this.droppedThroughMs, dropped.atMs);
    }
  }

  #oldest(): Droppable | undefined {
    let found: Droppable | undefined;
    let foundMs = Number.POSITIVE_INFINITY;
    for (const history of this.#histories) {
      const { oldestMs } = history;
      if (oldestMs < foundMs) {
        found = history;
        foundMs = oldestMs;
      }
    }
    return found;
  }
}

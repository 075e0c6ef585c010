// Which actions of a cycle were held back, and by what, noted where it happens. Neighbours with one
// fate are one run; runs are bounded and counts exact, so that half a million actions cost a few
// steps each and no memory.

import { type DispositionCode, type DispositionRun, MAX_DISPOSITION_RUNS } from '@bigfleet/engine';

export class DispositionLog {
  readonly counts: Map<DispositionCode, number> = new Map();
  /** In order; when there were more than the bound, the first of them. */
  readonly runs: DispositionRun[] = [];
  #first = 0;
  #count = 0;
  #code: DispositionCode = 'deduped_state';

  /** Places in ascending order, each once. */
  note(place: number, code: DispositionCode): void {
    if (code === this.#code && place === this.#first + this.#count) {
      this.#count += 1;
      return;
    }
    this.end();
    this.#first = place;
    this.#count = 1;
    this.#code = code;
  }

  /** The open run is over; more may follow. */
  end(): void {
    if (this.#count === 0) return;
    const run = { first: this.#first, count: this.#count, code: this.#code };
    this.counts.set(run.code, (this.counts.get(run.code) ?? 0) + run.count);
    if (this.runs.length < MAX_DISPOSITION_RUNS) this.runs.push(run);
    this.#count = 0;
  }
}

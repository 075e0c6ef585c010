// What one leadership remembers of each open transfer: since when it knows it, and what the donor
// answered. Soft; a new leader asks again. One entry per open transfer.

import type { DonorAnswer } from './donor-answer.ts';

export interface SagaNote {
  readonly seenMs: number;
  readonly answer: DonorAnswer | undefined;
}

export class SagaMemory {
  readonly #notes = new Map<string, SagaNote>();

  note(id: string, nowMs: number): SagaNote {
    const known = this.#notes.get(id);
    if (known !== undefined) return known;
    const note: SagaNote = { seenMs: nowMs, answer: undefined };
    this.#notes.set(id, note);
    return note;
  }

  answer(id: string, answer: DonorAnswer): void {
    const known = this.#notes.get(id);
    if (known !== undefined) this.#notes.set(id, { ...known, answer });
  }

  keepOnly(openIds: ReadonlySet<string>): void {
    for (const id of this.#notes.keys()) if (!openIds.has(id)) this.#notes.delete(id);
  }
}

// What may be believed of the rows of one provider. A machine whose last row the fleet has taken in is
// not mentioned here; every other one is in one of three states, and leaves it by a row or an answer
// that the fleet takes in:
//
// | State | Because | What happens |
// |---|---|---|
// | written | an action of ours, or its answer, wrote the machine | its next row is looked at, also an equal one |
// | waiting | the fleet could not take its record in: an action under way, a cool-down, no room | the record waits in the scanner, which offers it again with every delta until it is taken in or a newer one comes |
// | in doubt | no row will tell: a call ended without an answer, or a full List omitted the machine and it stays | the provider is asked about the machine before the next delta |
//
// A full List speaks of every machine: it ends all three. What is taken for a scan is given back when
// there was none; a scan that was lost is followed by one that passes over nothing.
//
// Bounds: one entry per machine; MAX_WAITING_BYTES (reconcile/reconcile-list.ts); MAX_DOUBTS, beyond
// which single questions cost more than a full List.

import { joinBytes } from './list/byte-ranges.ts';
import type { KnownMachines } from './reconcile/known-machines.ts';
import { FAILED_COOL_DOWN_MS } from './reconcile/merge-row.ts';
import type { Unsettled } from './reconcile/reconcile-list.ts';
import { noMarks, type ScanMarks } from './scan/list-scans.ts';

export const MAX_DOUBTS = 4_096;
/** Questions per round; more are answered faster by a full List. */
export const MAX_QUESTIONS = 256;

/** Machines of one provider. */
export interface LocalWrites {
  /** Written by our own actions, or by their answers: known otherwise than from the last List. */
  readonly touched: readonly string[];
  /** Of those: what the provider made of it is not known. */
  readonly doubted: readonly string[];
}

export class RowTrust {
  /** Rows of the last scan, records that wait, and whether nothing of before counts. */
  #marks: Omit<ScanMarks, 'again'> = noMarks;
  readonly #again = new Set<string>();
  readonly #doubted = new Set<string>();
  #hasTooManyDoubts = false;

  wrote({ touched, doubted }: LocalWrites): void {
    this.#lookAt(touched);
    this.#doubt(doubted);
  }

  /** The next scan looks at every row. */
  forgetAll(): void {
    this.#marks = { ...this.#marks, isAnew: true };
  }

  /** For a scan, which is told everything once. */
  take(): ScanMarks {
    const taken = { ...this.#marks, again: [...this.#again] };
    this.#marks = noMarks;
    this.#again.clear();
    return taken;
  }

  /** There was no scan: what was taken for it still holds, and the rows are those of the last one. */
  giveBack({ again, ...marks }: ScanMarks): void {
    this.#marks = { ...marks, isAnew: marks.isAnew || this.#marks.isAnew };
    this.#lookAt(again);
  }

  /** The List was scanned and not read: a full one follows. */
  unread(rows: Uint32Array): void {
    this.#marks = { ...this.#marks, unsettledRows: rows.slice() };
  }

  /** The rows of a scanned List were offered to the fleet, and with a delta the records that waited. */
  offered({ rows, waiting, keptIds }: Unsettled, { isFull }: { readonly isFull: boolean }): void {
    if (isFull) {
      this.#doubted.clear();
      this.#hasTooManyDoubts = false;
    }
    this.#marks = { ...this.#marks, unsettledRows: rows, waiting };
    this.#lookAt(keptIds);
    this.#doubt(keptIds);
  }

  /** The provider's answers about these machines were offered to the fleet; the scan knows of none. */
  asked(ids: readonly string[], { waiting }: Unsettled): void {
    for (const id of ids) this.#doubted.delete(id);
    this.#lookAt(ids);
    this.#marks = { ...this.#marks, waiting: joinBytes([waiting, this.#marks.waiting]) };
  }

  /** Whom to ask about now; 'too_many' when a full List is the better question. */
  due(known: KnownMachines, nowMs: number): readonly string[] | 'too_many' {
    if (this.#hasTooManyDoubts) return 'too_many';
    const due: string[] = [];
    for (const id of this.#doubted) {
      if (known.slotOf(id) < 0) this.#doubted.delete(id);
      else if (isAskable(known, id, nowMs)) due.push(id);
    }
    return due.length > MAX_QUESTIONS ? 'too_many' : due;
  }

  #lookAt(ids: readonly string[]): void {
    for (const id of ids) this.#again.add(id);
  }

  #doubt(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.#doubted.size < MAX_DOUBTS) this.#doubted.add(id);
      else if (!this.#doubted.has(id)) this.#hasTooManyDoubts = true;
    }
  }
}

/** Not while the answer could not be used, nor about a machine that left. */
function isAskable(known: KnownMachines, id: string, nowMs: number): boolean {
  const slot = known.slotOf(id);
  if (slot < 0 || known.pendingOf(slot) !== 'none') return false;
  const failedAtMs = known.failedHereAtMs(slot);
  return failedAtMs === undefined || nowMs - failedAtMs >= FAILED_COOL_DOWN_MS;
}

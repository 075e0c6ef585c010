// Machines of one provider whose truth no delta will tell: a call ended without anybody knowing what
// became of it, or a row went unheard and no cursor brings it again (skipped-rows.ts). Their owner
// asks about each before it trusts the next delta.
//
// Bound: MAX_DOUBTS. Beyond it single questions cost more than a full List, which settles them all.

import type { KnownMachines } from './reconcile/known-machines.ts';
import { FAILED_COOL_DOWN_MS } from './reconcile/merge-row.ts';

export const MAX_DOUBTS = 4_096;
/** Questions per round; more are answered faster by a full List. */
export const MAX_QUESTIONS = 256;

export class Doubts {
  readonly #ids = new Set<string>();
  #hasOverflown = false;

  get count(): number {
    return this.#ids.size;
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#ids.size < MAX_DOUBTS) this.#ids.add(id);
      else if (!this.#ids.has(id)) this.#hasOverflown = true;
    }
  }

  settle(id: string): void {
    this.#ids.delete(id);
  }

  /** A full List has spoken of everybody. */
  clear(): void {
    this.#ids.clear();
    this.#hasOverflown = false;
  }

  /** Whom to ask about now; 'too_many' when a full List is the better question. */
  due(known: KnownMachines, nowMs: number): readonly string[] | 'too_many' {
    if (this.#hasOverflown) return 'too_many';
    const due: string[] = [];
    for (const id of this.#ids) {
      if (known.slotOf(id) < 0) this.#ids.delete(id);
      else if (isAskable(known, id, nowMs)) due.push(id);
    }
    return due.length > MAX_QUESTIONS ? 'too_many' : due;
  }
}

/** Not while the answer could not be used, nor about a machine that left. */
export function isAskable(known: KnownMachines, id: string, nowMs: number): boolean {
  const slot = known.slotOf(id);
  if (slot < 0 || known.pendingOf(slot) !== 'none') return false;
  const failedAtMs = known.failedHereAtMs(slot);
  return failedAtMs === undefined || nowMs - failedAtMs >= FAILED_COOL_DOWN_MS;
}

// Which entry may follow which: the snapshot first, then inputs, and a decision only right
// behind its cycle. One table for both sides: the recorder asserts it, the reader refuses.

import type { TraceEntry } from './entry.ts';

export type EntryKind = TraceEntry['kind'];

type Phase = 'snapshot' | 'running' | 'cycling' | 'ended';

const inputs: readonly EntryKind[] = ['put', 'reported', 'held_off', 'brakes', 'release_policy'];

const allowed: Readonly<Record<Phase, ReadonlySet<EntryKind>>> = {
  snapshot: new Set([...inputs, 'demand', 'parking', 'shortfall', 'snapshot_end']),
  running: new Set([...inputs, 'remove', 'move', 'withhold', 'idle_since', 'rollup', 'cycle']),
  cycling: new Set(['decided']),
  ended: new Set(),
};

export class TraceGrammar {
  #phase: Phase = 'snapshot';

  get isEnded(): boolean {
    return this.#phase === 'ended';
  }

  /** False, and nothing changes, when the entry may not stand here. */
  accept(kind: EntryKind): boolean {
    if (!allowed[this.#phase].has(kind)) return false;
    if (kind === 'snapshot_end' || kind === 'decided') this.#phase = 'running';
    if (kind === 'cycle') this.#phase = 'cycling';
    return true;
  }

  end(): void {
    this.#phase = 'ended';
  }
}

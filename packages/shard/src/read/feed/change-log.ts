// The last deltas, shared by all readers: a reader is a place in this log, so one that never reads
// holds nothing. Bounded by count and by bytes; a place that has fallen out of it needs a snapshot.
// An unfiltered frame is put together once and fanned out.

import type { CycleChanges } from './cycle-changes.ts';
import { deltaFrame } from './frames.ts';
import type { Selection } from './selection.ts';

const KEPT_DELTAS = 256;
const KEPT_BYTES: number = 1 << 26;

interface Entry {
  readonly changes: CycleChanges;
  /** By what they hold. */
  readonly frames: Map<number, Uint8Array>;
}

export interface Behind {
  readonly deltaCount: number;
  readonly bytes: number;
}

export class ChangeLog {
  readonly #epoch: bigint;
  #entries: Entry[] = [];
  #bytes = 0;
  /** Up to here the log knows nothing. */
  #baseCycle = 0;
  #newestCycle = 0;

  constructor(epoch: bigint) {
    this.#epoch = epoch;
  }

  get newestCycle(): number {
    return this.#newestCycle;
  }

  get deltaCount(): number {
    return this.#entries.length;
  }

  /** Nobody follows: whoever comes starts from this cycle. */
  restart(cycle: number): void {
    this.#entries = [];
    this.#bytes = 0;
    this.#baseCycle = cycle;
    this.#newestCycle = cycle;
  }

  append(changes: CycleChanges): void {
    this.#entries.push({ changes, frames: new Map() });
    this.#bytes += sizeOf(changes);
    this.#newestCycle = changes.cycle;
    while (this.#entries.length > KEPT_DELTAS || this.#bytes > KEPT_BYTES) {
      const [oldest] = this.#entries.splice(0, 1);
      if (oldest === undefined) return;
      this.#bytes -= sizeOf(oldest.changes);
      this.#baseCycle = oldest.changes.cycle;
    }
  }

  holds(cycle: number): boolean {
    return cycle >= this.#baseCycle && cycle <= this.#newestCycle;
  }

  /** Everything after the cycle, oldest first; undefined when it is not all here any more. */
  since(cycle: number): readonly CycleChanges[] | undefined {
    if (!this.holds(cycle)) return undefined;
    return this.#after(cycle).map(({ changes }) => changes);
  }

  behind(cycle: number, hasRecords: boolean): Behind {
    const entries = this.#after(cycle);
    const bytes = entries.reduce(
      (sum, { changes }) => sum + (hasRecords ? sizeOf(changes) : changes.rowBytes),
      0,
    );
    return { deltaCount: entries.length, bytes };
  }

  /** Of changes that `since` gave, or of a merger of them. */
  frameOf(changes: CycleChanges, selection: Selection): Uint8Array {
    const { shareKey } = selection;
    const entry = this.#entries.find((kept) => kept.changes === changes);
    if (shareKey === undefined || entry === undefined) {
      return deltaFrame(changes, selection, this.#epoch);
    }
    let frame = entry.frames.get(shareKey);
    if (frame === undefined) {
      frame = deltaFrame(changes, selection, this.#epoch);
      entry.frames.set(shareKey, frame);
    }
    return frame;
  }

  #after(cycle: number): readonly Entry[] {
    return this.#entries.filter(({ changes }) => changes.cycle > cycle);
  }
}

function sizeOf({ rowBytes, records }: CycleChanges): number {
  return records.reduce((sum, { length }) => sum + length, rowBytes);
}

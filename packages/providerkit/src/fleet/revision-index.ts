// Which machine changed when: one global counter, and an index ordered by it, so that a delta
// costs what changed and not what exists (provider-contract §9). Numbers are assigned before a commit and
// become visible after it; the head never passes a number that is still on its way, nor one that
// is not durable: a cursor handed out today must mean the same after a crash.
//
// An entry holds the record itself: a delta is a binary search plus its entries, without one lookup
// per machine. Appending is O(1); an entry that a later change of its machine made stale is emptied
// and compacted away when the empty ones outnumber the rest.

import { assert } from '@bigfleet/base';
import type { MachineRecord } from '../model/machine.ts';

/** Below it compaction saves nothing worth its pass. */
const MIN_COMPACTED_LENGTH = 1_024;

export class RevisionIndex {
  #revisions: number[] = [];
  /** Undefined: on its way, abandoned, or stale. */
  #records: (MachineRecord | undefined)[] = [];
  /** Assigned, not yet applied; in ascending order, because numbers only rise. */
  readonly #pending = new Set<number>();
  #last: number;
  #durable: number;

  constructor(durableRevision: number) {
    this.#last = durableRevision;
    this.#durable = durableRevision;
  }

  /** The highest number assigned so far. */
  get last(): number {
    return this.#last;
  }

  /** The highest number that a cursor may carry now. */
  get head(): number {
    for (const lowest of this.#pending) return Math.min(this.#durable, lowest - 1);
    return Math.min(this.#durable, this.#last);
  }

  get length(): number {
    return this.#records.length;
  }

  /** For records that come from the store; in ascending order. */
  restore(record: MachineRecord): void {
    const revision = record.modifiedRevision;
    const previous = this.#revisions.at(-1) ?? 0;
    assert(revision > previous && revision <= this.#last, 'revisions restored out of order', {
      revision,
      previous,
    });
    this.#revisions.push(revision);
    this.#records.push(record);
  }

  /** The next number, reserved for a change until it is shown or abandoned. */
  assign(): number {
    this.#last += 1;
    this.#revisions.push(this.#last);
    this.#records.push(undefined);
    this.#pending.add(this.#last);
    return this.#last;
  }

  /** The change will never be visible: its number no longer holds the head back. */
  abandon(revision: number): void {
    this.#pending.delete(revision);
  }

  /** The change is visible now, in place of what the machine was before. */
  show(record: MachineRecord, before: MachineRecord | undefined): void {
    const position = this.#find(record.modifiedRevision);
    assert(position >= 0, 'a change is shown under a number that was assigned');
    this.#records[position] = record;
    this.#pending.delete(record.modifiedRevision);
    if (before !== undefined) this.forget(before);
  }

  forget(record: MachineRecord): void {
    const position = this.#find(record.modifiedRevision);
    if (position >= 0) this.#records[position] = undefined;
  }

  /** Everything up to this number would survive a crash. */
  saved(revision: number): void {
    if (revision > this.#durable) this.#durable = revision;
  }

  /** The position of the first entry above `since`. */
  firstAfter(since: number): number {
    let low = 0;
    let high = this.#revisions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#revisions[middle] ?? 0) <= since) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Undefined when the entry is not, or no longer, how a machine is. */
  recordAt(position: number): MachineRecord | undefined {
    return this.#records[position];
  }

  revisionAt(position: number): number {
    return this.#revisions[position] ?? 0;
  }

  /** Drops empty entries once they are the majority. */
  compact(liveCount: number): void {
    const { length } = this.#records;
    const neededCount = liveCount + this.#pending.size;
    if (length < MIN_COMPACTED_LENGTH || length <= 2 * neededCount) return;
    const revisions: number[] = [];
    const records: (MachineRecord | undefined)[] = [];
    for (let at = 0; at < length; at++) {
      const record = this.#records[at];
      const revision = this.revisionAt(at);
      if (record === undefined && !this.#pending.has(revision)) continue;
      revisions.push(revision);
      records.push(record);
    }
    this.#revisions = revisions;
    this.#records = records;
  }

  /** −1 when it was compacted away. */
  #find(revision: number): number {
    const position = this.firstAfter(revision - 1);
    return this.#revisions[position] === revision ? position : -1;
  }
}

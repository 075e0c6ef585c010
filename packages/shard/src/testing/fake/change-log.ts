// Machines in the order of their last change, so that a delta costs what changed and not what
// exists. One entry per change; entries that a later change of their machine made stale are
// skipped, and dropped when they outnumber the live ones.

import type { FakeMachine } from './fake-machine.ts';

const COMPACTION_SLACK = 1_024;

interface Entry {
  readonly revision: number;
  readonly machine: FakeMachine;
}

export class ChangeLog {
  #entries: Entry[] = [];
  #head = 0;
  readonly #isPresent: (machine: FakeMachine) => boolean;

  constructor(isPresent: (machine: FakeMachine) => boolean) {
    this.#isPresent = isPresent;
  }

  /** Of the last change, whatever changed. */
  get head(): number {
    return this.#head;
  }

  record(machine: FakeMachine, machineCount: number): void {
    this.#head += 1;
    machine.changed(this.#head);
    this.#entries.push({ revision: this.#head, machine });
    if (this.#entries.length > 2 * machineCount + COMPACTION_SLACK) this.#compact();
  }

  /** Something is gone: no record says so, but the revision moves. */
  recordRemoval(): void {
    this.#head += 1;
  }

  /** Every machine that changed after `revision`, oldest change first. */
  *since(revision: number): Iterable<FakeMachine> {
    for (let at = this.#firstAfter(revision); at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry !== undefined && this.#isLive(entry)) yield entry.machine;
    }
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isLive({ revision, machine }: Entry): boolean {
    return machine.revision === revision && this.#isPresent(machine);
  }

  #compact(): void {
    this.#entries = this.#entries.filter((entry) => this.#isLive(entry));
  }
}

// The opaque revision of a List: which life of the store, and how far. A cursor of another life,
// from beyond the head or of another shape means nothing here, and the answer is the full list.

const INCARNATION_BYTES = 16;
const CURSOR_BYTES: number = INCARNATION_BYTES + 8;

export class Cursors {
  readonly #incarnation: Uint8Array;

  /** 16 unpredictable bytes, drawn anew at every start. */
  constructor(incarnation: Uint8Array) {
    this.#incarnation = incarnation;
  }

  encode(revision: number): Uint8Array {
    const bytes = new Uint8Array(CURSOR_BYTES);
    bytes.set(this.#incarnation);
    new DataView(bytes.buffer).setBigUint64(INCARNATION_BYTES, BigInt(revision));
    return bytes;
  }

  /** Undefined: no cursor of ours, list everything. */
  decode(cursor: Uint8Array, head: number): number | undefined {
    if (cursor.length !== CURSOR_BYTES) return undefined;
    for (let at = 0; at < INCARNATION_BYTES; at++) {
      if (cursor[at] !== this.#incarnation[at]) return undefined;
    }
    const view = new DataView(cursor.buffer, cursor.byteOffset, cursor.byteLength);
    const revision = view.getBigUint64(INCARNATION_BYTES);
    return revision <= BigInt(head) ? Number(revision) : undefined;
  }
}

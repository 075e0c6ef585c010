// The inventory in memory: records, operation ids, fence marks, and the indexes over them. Holds
// only what the ledger applied; nothing here waits, so between two awaits of a caller it is one
// consistent picture. Records are immutable: a reader may keep one as long as it likes.

import { assert } from '@bigfleet/base';
import { MachinePages } from './machine-pages.ts';
import type { MachineRecord, OperationKind } from '../model/machine.ts';
import type { KitObserver } from '../observer.ts';
import type { StoredOperation, StoreImage } from '../store/store.ts';
import { MachineCounts } from './machine-counts.ts';
import { MarkTable } from './mark-table.ts';
import { RevisionIndex } from './revision-index.ts';

/** A machine and its place in the pages. */
interface Slot {
  record: MachineRecord;
  readonly position: number;
}

export class Fleet {
  readonly incarnation: string;
  readonly revisions: RevisionIndex;
  readonly marks: MarkTable = new MarkTable();
  readonly pages: MachinePages = new MachinePages();
  readonly #slots = new Map<string, Slot>();
  readonly #operations = new Map<string, Map<OperationKind, StoredOperation>>();
  /** Substrate id of a host → machine, for notices that name the host only. */
  readonly #byHostRef = new Map<string, string>();
  readonly #counts: MachineCounts;
  /** Called after each change, with undefined for a machine that was not there before. */
  onChanged: (record: MachineRecord, before: MachineRecord | undefined) => void = () => {};

  constructor(image: StoreImage, observer: KitObserver) {
    this.incarnation = image.incarnation;
    this.revisions = new RevisionIndex(image.revision);
    this.#counts = new MachineCounts(observer);
    for (const mark of image.fences) this.marks.set(mark);
    for (const operation of image.operations) this.setOperation(operation);
    for (const record of image.machines) {
      this.revisions.restore(record);
      this.#put(record);
    }
  }

  get size(): number {
    return this.#slots.size;
  }

  get(id: string): MachineRecord | undefined {
    return this.#slots.get(id)?.record;
  }

  *records(): Iterable<MachineRecord> {
    for (const { record } of this.#slots.values()) yield record;
  }

  machineOnHost(hostRef: string): MachineRecord | undefined {
    const id = this.#byHostRef.get(hostRef);
    return id === undefined ? undefined : this.get(id);
  }

  operation(id: string, kind: OperationKind): StoredOperation | undefined {
    return this.#operations.get(id)?.get(kind);
  }

  setOperation(operation: StoredOperation): void {
    const kinds =
      this.#operations.get(operation.machineId) ?? new Map<OperationKind, StoredOperation>();
    if (kinds.size === 0) this.#operations.set(operation.machineId, kinds);
    kinds.set(operation.kind, operation);
  }

  /** Makes a change visible: its revision was assigned before its commit. */
  apply(record: MachineRecord): void {
    const before = this.#put(record);
    this.revisions.show(record, before);
    this.revisions.compact(this.size);
    this.onChanged(record, before);
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    assert(slot !== undefined, 'only a known machine can be removed', { id });
    this.#slots.delete(id);
    this.revisions.forget(slot.record);
    this.pages.remove(slot.position);
    this.#counts.moved(slot.record, undefined);
    this.#forgetHost(slot.record);
  }

  #put(record: MachineRecord): MachineRecord | undefined {
    const slot = this.#slots.get(record.id);
    const before = slot?.record;
    if (slot === undefined) {
      this.#slots.set(record.id, { record, position: this.pages.add(record) });
    } else {
      slot.record = record;
      this.pages.replace(slot.position, record);
    }
    this.#counts.moved(before, record);
    if (before !== undefined && before.host?.ref !== record.host?.ref) this.#forgetHost(before);
    if (record.host !== undefined) this.#byHostRef.set(record.host.ref, record.id);
    return before;
  }

  #forgetHost(record: MachineRecord): void {
    const ref = record.host?.ref;
    if (ref !== undefined && this.#byHostRef.get(ref) === record.id) this.#byHostRef.delete(ref);
  }
}

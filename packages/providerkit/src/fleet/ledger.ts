// Write-ahead: a change is committed, then applied, then told (provider-contract §13). `write` refuses when
// the store refuses, and nothing happened. `keep` is for results that can't be refused (a host that
// now exists): they are applied anyway and saved again until the store takes them.
//
// Callers hold the machine's section, so the record they derive from is still the current one.

import { assert, BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import type { MachineRecord } from '../model/machine.ts';
import { recordProblem } from '../model/record-rules.ts';
import type { KitObserver } from '../observer.ts';
import type { FenceMark, Store, StoreChange, StoredOperation } from '../store/store.ts';
import type { Fleet } from './fleet.ts';

export interface Write {
  /** `modifiedRevision` is replaced by the next number. */
  readonly record: MachineRecord;
  readonly operation?: StoredOperation;
  readonly mark?: FenceMark | undefined;
}

export class Ledger {
  readonly #fleet: Fleet;
  readonly #store: Store;
  readonly #clock: Runtime['clock'];
  readonly #observer: KitObserver;
  readonly #unsaved = new Set<string>();
  /** Called with each failed save of a result that was kept, and with undefined when all are safe. */
  onUnsaved: (error: BigFleetError | undefined) => void = () => {};

  constructor(fleet: Fleet, store: Store, clock: Runtime['clock'], observer: KitObserver) {
    this.#fleet = fleet;
    this.#store = store;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** Machines whose present record is in memory only. */
  get unsaved(): ReadonlySet<string> {
    return this.#unsaved;
  }

  /** A mark that advanced though its operation changes nothing. */
  async writeMark(mark: FenceMark): Promise<void> {
    await this.#commit([{ kind: 'fence', mark }]);
    this.#fleet.marks.set(mark);
  }

  /** All of it durable and applied, or a rejection and nothing of it. Returns the record as stored. */
  async write(write: Write): Promise<MachineRecord> {
    const [stored] = await this.writeAll([write]);
    assert(stored !== undefined, 'one write stores one record');
    return stored;
  }

  /** One commit for all of them. */
  async writeAll(writes: readonly Write[]): Promise<readonly MachineRecord[]> {
    const stored = writes.map((write) => this.#numbered(write.record));
    const changes: StoreChange[] = [];
    stored.forEach((record, i) => pushChanges(changes, record, writes[i]));
    changes.push(this.#revisionChange());
    try {
      await this.#commit(changes);
    } catch (error) {
      for (const record of stored) this.#fleet.revisions.abandon(record.modifiedRevision);
      throw error;
    }
    stored.forEach((record, i) => this.#apply(record, writes[i]));
    return stored;
  }

  /** Applies in any case; a record that the store refused waits for `saveAgain`. */
  async keep(record: MachineRecord): Promise<MachineRecord> {
    const stored = this.#numbered(record);
    try {
      await this.#commit([{ kind: 'machine', record: stored }, this.#revisionChange()]);
      this.#markSaved(stored.id);
    } catch (error) {
      assert(error instanceof BigFleetError, 'a failed commit is an error of the environment');
      this.#unsaved.add(stored.id);
      this.onUnsaved(error);
    }
    this.#fleet.apply(stored);
    return stored;
  }

  /** Rejects when the store still refuses. */
  async saveAgain(id: string): Promise<void> {
    const record = this.#fleet.get(id);
    if (record === undefined || !this.#unsaved.has(id)) return;
    await this.#commit([{ kind: 'machine', record }, this.#revisionChange()]);
    this.#markSaved(id);
  }

  async remove(id: string): Promise<void> {
    await this.#commit([{ kind: 'machine-removed', machineId: id }]);
    this.#fleet.remove(id);
    this.#markSaved(id);
  }

  #numbered(record: MachineRecord): MachineRecord {
    const problem = recordProblem(record);
    assert(problem === undefined, 'a record outside the contract', { id: record.id, problem });
    return { ...record, modifiedRevision: this.#fleet.revisions.assign() };
  }

  /** The last number assigned: commits are made in order, so what is stored never goes back. */
  #revisionChange(): StoreChange {
    return { kind: 'revision', revision: this.#fleet.revisions.last };
  }

  async #commit(changes: readonly StoreChange[]): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    const { last } = this.#fleet.revisions;
    try {
      await this.#store.commit(changes);
    } catch (error) {
      this.#observer.storeSave?.('error', this.#clock.monotonicMs() - startMs);
      if (error instanceof BigFleetError) throw error;
      throw new BigFleetError('store_unavailable', describeThrown(error), { cause: error });
    }
    this.#observer.storeSave?.('success', this.#clock.monotonicMs() - startMs);
    if (changes.some((change) => change.kind === 'revision')) this.#fleet.revisions.saved(last);
  }

  #apply(stored: MachineRecord, write: Write | undefined): void {
    if (write?.mark !== undefined) this.#fleet.marks.set(write.mark);
    if (write?.operation !== undefined) this.#fleet.setOperation(write.operation);
    this.#markSaved(stored.id);
    this.#fleet.apply(stored);
  }

  /** A whole record went to the store: whatever was missing there is there now. */
  #markSaved(id: string): void {
    if (this.#unsaved.delete(id) && this.#unsaved.size === 0) this.onUnsaved(undefined);
  }
}

function pushChanges(
  changes: StoreChange[],
  stored: MachineRecord,
  write: Write | undefined,
): void {
  if (write?.mark !== undefined) changes.push({ kind: 'fence', mark: write.mark });
  if (write?.operation !== undefined) {
    changes.push({ kind: 'operation', operation: write.operation });
  }
  changes.push({ kind: 'machine', record: stored });
}

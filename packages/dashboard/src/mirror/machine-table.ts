// The machines of one shard: rows by id, kept in columns. Every write goes through the undo writer, so that
// the step that wrote it can be taken back.

import { State } from '@bigfleet/engine';
import type { MachineFacts } from '../facts.ts';
import type { Classes } from './classes.ts';
import { Columns, emptyRow, NAMES, type Row } from './columns.ts';
import { riskBinOf } from './exposure.ts';
import { Supply } from './supply.ts';
import type { Texts } from './texts.ts';
import type { UndoWriter } from './undo.ts';

/** What a write did, for those who watch transitions. */
export interface MachineWrite {
  readonly slot: number;
  readonly from: number;
  readonly fromClass: number;
  readonly fromSinceMs: number;
  readonly fromRiskBin: number;
  /** 0 when it was removed. */
  readonly to: number;
}

const freeRow: Row = emptyRow();

export class MachineTable {
  readonly columns: Columns = new Columns();
  readonly supply: Supply = new Supply();
  readonly #texts: Texts;
  readonly #classes: Classes;
  /** By the number of the id. */
  readonly #slots = new Map<number, number>();
  readonly #free: number[] = [];
  readonly #row: Row = emptyRow();

  constructor(texts: Texts, classes: Classes) {
    this.#texts = texts;
    this.#classes = classes;
  }

  get size(): number {
    return this.#slots.size;
  }

  slotOf(machine: string): number {
    const id = this.#texts.find(machine);
    return id < 0 ? -1 : (this.#slots.get(id) ?? -1);
  }

  /** Undefined when it is known exactly so. */
  put(facts: MachineFacts, undo: UndoWriter): MachineWrite | undefined {
    return this.#write(this.#rowOf(facts), undo);
  }

  /** A row of another table over the same texts and classes. */
  copy(from: Columns, slot: number, undo: UndoWriter): MachineWrite | undefined {
    const row = this.#row;
    for (const name of NAMES) row[name] = from[name][slot] ?? 0;
    return this.#write(row, undo);
  }

  remove(machine: string, undo: UndoWriter): MachineWrite | undefined {
    const slot = this.slotOf(machine);
    return slot < 0 ? undefined : this.#clear(slot, undo);
  }

  /** Removes those that the other table does not have. */
  retain(
    other: MachineTable,
    undo: UndoWriter,
    onRemoved: (machine: string, write: MachineWrite) => void,
  ): void {
    for (const [id, slot] of this.#slots) {
      if (!other.#slots.has(id)) onRemoved(this.#texts.text(id), this.#clear(slot, undo));
    }
  }

  #write(row: Row, undo: UndoWriter): MachineWrite | undefined {
    const known = this.#slots.get(row.id);
    const slot = known ?? this.#free.pop() ?? this.columns.append();
    const { state, klass, since, riskBin } = this.columns;
    const from = state[slot] ?? 0;
    // What a configured machine was declared at is what its interruption is measured against.
    if (row.state === State.Configured && from === State.Configured) {
      row.riskBin = riskBin[slot] ?? row.riskBin;
    }
    const before = {
      slot,
      from,
      fromClass: klass[slot] ?? 0,
      fromSinceMs: since[slot] ?? 0,
      fromRiskBin: riskBin[slot] ?? 0,
      to: row.state,
    };
    this.supply.count(this.columns, slot, this.#classes, -1);
    const isChanged = undo.overwrite(this.columns, slot, row);
    this.supply.count(this.columns, slot, this.#classes, 1);
    if (known === undefined) this.#slots.set(row.id, slot);
    return isChanged ? before : undefined;
  }

  #clear(slot: number, undo: UndoWriter): MachineWrite {
    const { id, state, klass, since, riskBin } = this.columns;
    const before = {
      slot,
      from: state[slot] ?? 0,
      fromClass: klass[slot] ?? 0,
      fromSinceMs: since[slot] ?? 0,
      fromRiskBin: riskBin[slot] ?? 0,
      to: 0,
    };
    this.#slots.delete(id[slot] ?? 0);
    this.supply.count(this.columns, slot, this.#classes, -1);
    undo.overwrite(this.columns, slot, freeRow);
    this.#free.push(slot);
    return before;
  }

  #rowOf(facts: MachineFacts): Row {
    const row = this.#row;
    const texts = this.#texts;
    row.id = texts.intern(facts.machine);
    row.klass = this.#classes.intern(facts);
    row.cluster = texts.intern(facts.cluster);
    row.need = texts.intern(facts.need);
    row.group = texts.intern(facts.group);
    row.node = texts.intern(facts.node);
    row.error = texts.intern(facts.lastError);
    row.pending = texts.intern(facts.pendingAction);
    row.priority = facts.priority | 0;
    row.since = Number.isFinite(facts.sinceMs) ? facts.sinceMs : 0;
    row.state = facts.state;
    row.interruption = facts.interruptionPenaltyBucket & 0xff;
    row.reclamation = facts.reclamationPenaltyBucket & 0xff;
    row.riskBin = facts.state === State.Configured ? riskBinOf(facts.interruptionProbability) : 0;
    return row;
  }
}

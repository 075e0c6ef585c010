// Writes the decision record of a cycle while it is decided: what each need found, what it took
// and why the others lost, in the order in which it happened. Nothing is derived afterwards.
//
// Cost: per recorded need a dozen bytes, per action its machine's id and a number. Needs that
// their own cluster covers are not mentioned. Guarded by bench extra.recordShare.

import { assert } from '@bigfleet/base';
import type { ActionBuffer } from '../actions/action-buffer.ts';
import { ActionKind } from '../model/action.ts';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import type { Row } from '../needs/row.ts';
import type { PoolView } from '../phase1/pool-view.ts';
import type { VictimLog } from '../phase2/preempt.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { CandidateLists } from './candidate-lists.ts';
import { checksum } from './sealed-bytes.ts';
import {
  CODE_OF_CANDIDATE,
  CODE_OF_UNMET,
  HAS_DOMAIN,
  IS_PARKED,
  IS_SATISFIED,
  RECORD_FORMAT,
  RECORD_MAGIC,
} from './format.ts';
import { RecordTables } from './record-tables.ts';
import { VictimLists } from './victim-lists.ts';

/** Ids that are fetched at once: their misses overlap. */
const IDS_AHEAD = 16;

export interface RecordHeader {
  readonly cycle: number;
  readonly nowMs: number;
  readonly digestHigh: number;
  readonly digestLow: number;
}

export class Recorder {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  readonly #actions: ActionBuffer;
  readonly #tables: RecordTables;
  readonly #lists: CandidateLists;
  readonly #victims: VictimLists;
  readonly #needs: ByteWriter = new ByteWriter();
  readonly #actionBytes: ByteWriter = new ByteWriter();
  readonly #record: ByteWriter = new ByteWriter();
  #needCount = 0;
  /** The last profile and its place. */
  #compiled: CompiledProfile | undefined;
  #fingerprint = 0;
  /** Acquisitions come first among the actions. */
  #acquisitionCount = 0;

  constructor(inventory: Inventory, vectors: VectorTable, view: PoolView, actions: ActionBuffer) {
    this.#inventory = inventory;
    this.#vectors = vectors;
    this.#actions = actions;
    this.#tables = new RecordTables(inventory);
    this.#lists = new CandidateLists(inventory, vectors, view, this.#tables, actions);
    this.#victims = new VictimLists(inventory, this.#tables);
  }

  /** Before acquisition. */
  begin(): void {
    this.#needCount = 0;
    this.#compiled = undefined;
    this.#acquisitionCount = 0;
    this.#actionBytes.clear();
    this.#needs.clear();
    this.#tables.begin();
    this.#lists.begin();
    this.#victims.beginCycle();
  }

  /** What Phase 2 tells about the machines it looks at. */
  get victimLog(): VictimLog {
    return this.#victims;
  }

  /** The turn of a need in acquisition is over; its actions are those from `firstAction` on. */
  acquired(row: Row, pass: number, firstAction: number): void {
    const { result, compiled, group } = row;
    result.recordPlace = this.#needCount++;
    this.#acquisitionCount = this.#actions.length;
    const cluster = this.#tables.cluster(row.cluster);
    // Needs of one profile follow each other.
    if (compiled !== this.#compiled) {
      this.#compiled = compiled;
      this.#fingerprint = this.#tables.fingerprint(compiled.fingerprint);
    }
    this.#needs.eightVarints(
      cluster,
      this.#fingerprint,
      this.#tables.group(group),
      (result.isSatisfied ? IS_SATISFIED : 0) |
        (result.isParked ? IS_PARKED : 0) |
        (result.domain === undefined ? 0 : HAS_DOMAIN),
      result.creditedCount,
      result.bootstrapCount,
      result.provisionCount,
      this.#lists.add(row, pass, firstAction),
    );
    if (result.domain !== undefined) this.#needs.text(result.domain);
    if (!result.isSatisfied) this.#writeVector(result.deficit);
  }

  /** In one go: ids are scattered in memory, and a tight loop waits for many of them at once. */
  #writeAcquisitions(): void {
    const out = this.#actionBytes;
    const actions = this.#actions;
    const { columns, ids } = this.#inventory;
    for (let at = 0; at < this.#acquisitionCount; at++) {
      if (at % IDS_AHEAD === 0) this.#fetchIds(at);
      const slot = actions.slot[at]!;
      const isProvision = actions.kind[at] === ActionKind.Provision;
      // Cluster and need follow from the counts of the needs, the kind from the pool.
      out.text(ids[slot]!);
      out.varint(this.#tables.class(columns.klass[slot]!) * 2 + (isProvision ? 1 : 0));
    }
  }

  /** Reads a little of the next ids, independent of each other: the processor waits once. */
  #fetchIds(start: number): void {
    const { columns, ids } = this.#inventory;
    const end = Math.min(this.#acquisitionCount, start + IDS_AHEAD);
    let sum = 0;
    for (let at = start; at < end; at++) {
      const slot = this.#actions.slot[at]!;
      sum += ids[slot]!.length + columns.klass[slot]!;
    }
    assert(sum >= 0, 'an action on a machine without a class');
  }

  /** The record as bytes, valid until the next cycle. */
  finish(header: RecordHeader, short: readonly ShortNeed[]): Uint8Array {
    const actions = this.#actions;
    assert(this.#acquisitionCount <= actions.length, 'acquisitions come first among the actions');
    assert(short.length <= this.#needCount, 'a need is short that never had its turn');
    const out = this.#record;
    const tables = this.#tables;
    out.clear();
    out.uint32(RECORD_MAGIC);
    out.byte(RECORD_FORMAT);
    out.varint(header.cycle);
    out.double(header.nowMs);
    out.uint32(header.digestHigh);
    out.uint32(header.digestLow);
    this.#writeAcquisitions();
    this.#writeOthers();
    out.uint32(checksum(this.#actionBytes.written));
    section(out, tables.stringCount, tables.strings);
    section(out, tables.classCount, tables.classes);
    section(out, this.#lists.count, this.#lists.bytes);
    section(out, this.#needCount, this.#needs);
    section(out, this.#victims.count, this.#victims.bytes);
    out.varint(short.length);
    for (const need of short) this.#writeShort(out, need);
    out.varint(actions.length - this.#acquisitionCount);
    out.bytes(this.#actionBytes.written);
    out.uint32(checksum(out.written));
    return out.written;
  }

  #writeShort(out: ByteWriter, { row, reasonCode }: ShortNeed): void {
    out.varint(row.result.recordPlace);
    out.byte(CODE_OF_UNMET.get(reasonCode) as number);
    out.varint(row.result.victimCount);
    out.varint(row.result.awaitingDrainCount);
    out.byte(CODE_OF_CANDIDATE.get(row.result.preemptionCode ?? 'chosen') as number);
    out.varint(row.result.victimList);
  }

  /** Preemptions, reclaims and releases, in order. */
  #writeOthers(): void {
    const out = this.#actionBytes;
    const actions = this.#actions;
    const { columns, ids } = this.#inventory;
    for (let at = this.#acquisitionCount; at < actions.length; at++) {
      const slot = actions.slot[at]!;
      const row = actions.row[at];
      const cluster = actions.cluster[at]!;
      out.byte(actions.kind[at]!);
      out.text(ids[slot]!);
      out.varints(
        cluster < 0 ? 0 : this.#tables.cluster(cluster) + 1,
        row === undefined ? 0 : row.result.recordPlace + 1,
        this.#tables.class(columns.klass[slot]!),
        actions.graceSeconds[at]!,
      );
      out.signed(columns.effectivePriority[slot]!);
    }
  }

  #writeVector(handle: number): void {
    const { values, stride } = this.#vectors;
    const out = this.#needs;
    const start = handle * stride;
    let count = 0;
    for (let d = 0; d < stride; d++) if (values[start + d]! > 0) count += 1;
    out.byte(count);
    for (let d = 0; d < stride; d++) {
      const value = values[start + d]!;
      if (value === 0) continue;
      out.text(this.#inventory.dimensions.name(d));
      out.varint(value);
    }
  }
}

function section(out: ByteWriter, count: number, content: ByteWriter): void {
  out.varint(count);
  out.varint(content.length);
  out.bytes(content.written);
}

export interface ShortNeed {
  readonly row: Row;
  readonly reasonCode: string;
}

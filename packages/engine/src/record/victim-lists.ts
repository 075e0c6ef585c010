// The bound machines that Phase 2 looked at for each short need: what it took, what it ranked and
// left, what it excluded; then, from the index that kept it from visiting them, machines whose
// priority is not lower, that it could not use, or that drain. Needs that found no victim at all and
// searched alike found the same: they name one list.
//
// Cost: nothing for a need that Phase 2 is not asked about. Per list at most MAX_CANDIDATES rows,
// MAX_VICTIM_CLASSES classes and MAX_SCANNED_VICTIMS machines beyond those Phase 2 visits itself.

import type { CandidateReason } from '@bigfleet/base';
import type { EligibleSet } from '../match/eligible-set.ts';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import type { Row } from '../needs/row.ts';
import { isFiniteFor } from '../phase1/may-serve.ts';
import type { ExcludedOutcome, RankedOutcome, VictimLog } from '../phase2/preempt.ts';
import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import {
  CODE_OF_CANDIDATE,
  isScoredCode,
  MAX_CANDIDATES,
  MAX_SCANNED_CLASSES,
  MAX_SCANNED_VICTIMS,
  MAX_VICTIM_CLASSES,
} from './format.ts';
import type { RecordTables } from './record-tables.ts';
import { type VictimRow, VictimRows } from './victim-rows.ts';

const code = (name: 'chosen' | CandidateReason): number => CODE_OF_CANDIDATE.get(name) as number;
const NOT_LOWER = code('victim_priority_not_lower');
const CLAIMED_HIGHER = code('victim_claimed_higher');
const NOT_CONFIGURED = code('victim_not_configured');
const INFINITE = code('infinite_cost');
const WRONG_DOMAIN = code('wrong_domain');
const NO_SCORE = 0;
const RANKED: Readonly<Record<RankedOutcome, number>> = {
  chosen: code('chosen'),
  no_contribution: code('no_contribution'),
  spread_skew: code('spread_skew'),
  victim_score_lower: code('victim_score_lower'),
};
const EXCLUDED: Readonly<Record<ExcludedOutcome, number>> = {
  victim_taken: code('victim_taken'),
  victim_own_cluster: code('victim_own_cluster'),
};

export class VictimLists implements VictimLog {
  readonly #inventory: Inventory;
  readonly #tables: RecordTables;
  readonly bytes: ByteWriter = new ByteWriter();
  count = 0;
  readonly #ranked: VictimRows;
  readonly #excluded: VictimRows;
  /** Of use, but safe: by priority, or because they drain. */
  readonly #safe: VictimRows;
  readonly #useless: VictimRows;
  #scanLeft = 0;
  readonly #known = new Map<EligibleSet, KnownList>();

  constructor(inventory: Inventory, tables: RecordTables) {
    this.#inventory = inventory;
    this.#tables = tables;
    this.#ranked = new VictimRows(inventory.columns);
    this.#excluded = new VictimRows(inventory.columns);
    this.#safe = new VictimRows(inventory.columns);
    this.#useless = new VictimRows(inventory.columns);
  }

  beginCycle(): void {
    this.bytes.clear();
    this.count = 0;
    this.#known.clear();
  }

  begin(): void {
    this.#ranked.clear();
    this.#excluded.clear();
    this.#safe.clear();
    this.#useless.clear();
  }

  ranked(slot: number, score: number, outcome: RankedOutcome): void {
    this.#ranked.add(slot, this.#priorityOf(slot), RANKED[outcome], score);
  }

  excluded(slot: number, outcome: ExcludedOutcome): void {
    this.#excluded.add(slot, this.#priorityOf(slot), EXCLUDED[outcome], NO_SCORE);
  }

  end(row: Row, awaited: ReadonlyMap<number, Row>): void {
    const { eligible, compiled, result } = row;
    const visitedCount = this.#ranked.rows.length + this.#excluded.rows.length;
    const isShared = visitedCount === 0 && result.awaitingDrainCount === 0;
    const known = isShared ? this.#known.get(eligible) : undefined;
    if (known !== undefined && isSameSearch(known, row)) {
      result.victimList = known.list;
      return;
    }
    const isCut = visitedCount < MAX_CANDIDATES ? this.#scan(row, awaited) : true;
    result.victimList = this.#write(isCut);
    if (!isShared) return;
    this.#known.set(eligible, { compiled, domain: result.domain, list: result.victimList });
  }

  #priorityOf(slot: number): number {
    return this.#inventory.columns.effectivePriority[slot]!;
  }

  /** What Phase 2 did not visit. True when it ends before the last class or machine. */
  #scan(row: Row, awaited: ReadonlyMap<number, Row>): boolean {
    const { members } = row.eligible.set;
    const { victims, drainingPools } = this.#inventory;
    this.#scanLeft = MAX_SCANNED_VICTIMS;
    let classesLeft = MAX_SCANNED_CLASSES;
    const end = Math.min(members.length, MAX_VICTIM_CLASSES);
    for (let at = 0; at < end; at++) {
      const klass = members[at]!;
      const drainingCount = drainingPools[klass]?.size ?? 0;
      if (!victims.hasAny(klass) && drainingCount === 0) continue;
      if (classesLeft-- === 0 || this.#scanLeft === 0) return true;
      const uselessCode = this.#uselessCode(row, klass);
      this.#scanBound(klass, row.compiled.priority, uselessCode);
      if (drainingCount > 0 && uselessCode === undefined) this.#scanDraining(row, klass, awaited);
    }
    return members.length > end;
  }

  /** Why nothing of the class would help once it is free; undefined when it would. */
  #uselessCode({ compiled, result }: Row, klass: number): number | undefined {
    if (!isFiniteFor(this.#inventory, compiled, klass)) return INFINITE;
    const { sameKey } = compiled;
    if (sameKey === undefined) return undefined;
    const domain = this.#inventory.classes.valueOf(klass, sameKey);
    return domain === result.domain ? undefined : WRONG_DOMAIN;
  }

  #scanBound(klass: number, preemptor: number, uselessCode: number | undefined): void {
    const stamps = this.#inventory.columns.priority;
    for (const [priority, slots] of this.#inventory.victims.groupsOf(klass)) {
      const isLower = priority < preemptor;
      // Phase 2 visited these and said so.
      if (isLower && uselessCode === undefined) continue;
      const rows = isLower ? this.#useless : this.#safe;
      for (const slot of slots) {
        if (!this.#mayScan(rows)) return;
        const safeCode = stamps[slot]! < preemptor ? CLAIMED_HIGHER : NOT_LOWER;
        rows.add(slot, priority, isLower ? (uselessCode as number) : safeCode, NO_SCORE);
      }
    }
  }

  /** Stamps: nobody claims a machine that drains. */
  #scanDraining(row: Row, klass: number, awaited: ReadonlyMap<number, Row>): void {
    const { drainingPools, columns } = this.#inventory;
    const pool = drainingPools[klass];
    if (pool === undefined) return;
    for (let chunk = 0; chunk < pool.chunkCount; chunk++) {
      const length = pool.lengthAt(chunk);
      for (let at = 0; at < length; at++) {
        const slot = pool.chunkAt(chunk)[at]!;
        if (!this.#mayScan(this.#safe)) return;
        if (awaited.get(slot) === row) continue;
        this.#safe.add(slot, columns.priority[slot]!, NOT_CONFIGURED, NO_SCORE);
      }
    }
  }

  #mayScan(rows: VictimRows): boolean {
    if (this.#scanLeft > 0) {
      this.#scanLeft -= 1;
      return true;
    }
    rows.isTruncated = true;
    return false;
  }

  /** The place of the list, from 1; 0 when there is nothing to say. */
  #write(isCut: boolean): number {
    const parts = [this.#ranked, this.#excluded, this.#safe, this.#useless];
    const rows = parts.flatMap((part) => part.rows);
    if (rows.length === 0) return 0;
    const count = Math.min(rows.length, MAX_CANDIDATES);
    const isTruncated = isCut || rows.length > count || parts.some((part) => part.isTruncated);
    this.bytes.byte(count * 2 + (isTruncated ? 1 : 0));
    for (let at = 0; at < count; at++) this.#writeRow(rows[at] as VictimRow);
    this.count += 1;
    return this.count;
  }

  #writeRow(row: VictimRow): void {
    const out = this.bytes;
    out.varint(this.#tables.class(row.klass));
    out.signed(row.priority);
    out.byte(row.interruptionBucket);
    out.byte(row.reclamationBucket);
    out.byte(row.code);
    out.varint(row.count);
    if (isScoredCode(row.code)) out.double(row.score);
    out.byte(row.named.length);
    for (const slot of row.named) out.text(this.#inventory.ids[slot]!);
  }
}

/** What decides who is safe and who is of no use, beside the eligible classes. */
function isSameSearch(known: KnownList, { compiled, result }: Row): boolean {
  return (
    known.compiled.priority === compiled.priority &&
    known.compiled.isPinned === compiled.isPinned &&
    known.compiled.sameKey === compiled.sameKey &&
    known.domain === result.domain
  );
}

interface KnownList {
  readonly compiled: CompiledProfile;
  readonly domain: string | undefined;
  readonly list: number;
}

// Writes the decision record of a cycle while it is decided: what each need found, what it took
// and why the others lost, in the order in which it happened. Nothing is derived afterwards.
//
// Cost: per recorded need, a few bytes per candidate class; per action, its machine's id. Needs
// that their own cluster covers are not mentioned. Guarded by bench extra.recordShare.

import type { ActionBuffer } from '../cycle/action-buffer.ts';
import type { CostOrder } from '../match/cost-order.ts';
import { ActionKind } from '../model/action.ts';
import { comparePrecedence } from '../model/profile.ts';
import type { Row } from '../needs/row.ts';
import { isFiniteFor } from '../phase1/may-serve.ts';
import { IDLE, type PoolState, type PoolView, SPECULATIVE } from '../phase1/pool-view.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from './byte-writer.ts';
import { checksum } from './checksum.ts';
import {
  CODE_OF_CANDIDATE,
  CODE_OF_UNMET,
  MAX_CANDIDATES,
  MAX_CANDIDATES_COVERED,
  MAX_SCANNED_CLASSES,
  RECORD_FORMAT,
  RECORD_MAGIC,
} from './format.ts';

const CHOSEN = 0;
const code = (name: string): number => CODE_OF_CANDIDATE.get(name) as number;
const HIGHER = code('claimed_higher_precedence');
const EQUAL = code('claimed_equal_precedence');
const COSTLIER = code('costlier');
const IDLE_PREFERRED = code('idle_preferred');
const RISK = code('interruption_risk');
const NO_CONTRIBUTION = code('no_contribution');
const QUOTA = code('quota_exhausted');
const SKEW = code('spread_skew');
const WRONG_DOMAIN = code('wrong_domain');
const MISMATCH = code('requirement_mismatch');
const UNIT = code('min_unit_too_small');
const INFINITE = code('infinite_cost');

export interface RecordHeader {
  readonly cycle: number;
  readonly nowMs: number;
  readonly digestHigh: number;
  readonly digestLow: number;
}

export class Recorder {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  readonly #view: PoolView;
  readonly #needs: ByteWriter = new ByteWriter();
  readonly #strings: ByteWriter = new ByteWriter();
  readonly #actionBytes: ByteWriter = new ByteWriter();
  readonly #record: ByteWriter = new ByteWriter();
  #cycle = 0;
  #stringCount = 0;
  #needCount = 0;
  #actionCount = 0;
  /** By interned id: place in this record's string table, valid for the tagged cycle. */
  readonly #fingerprints: Places = new Places();
  readonly #groups: Places = new Places();
  readonly #clusters: Places = new Places();
  readonly #classes: Places = new Places();
  readonly #classTable: ByteWriter = new ByteWriter();
  #classCount = 0;
  /** By class and pool: who took from it last in this cycle. */
  readonly #takers: readonly [(Row | undefined)[], (Row | undefined)[]] = [[], []];
  readonly #touched: number[] = [];

  constructor(inventory: Inventory, vectors: VectorTable, view: PoolView) {
    this.#inventory = inventory;
    this.#vectors = vectors;
    this.#view = view;
  }

  begin(): void {
    this.#cycle += 1;
    this.#stringCount = 0;
    this.#needCount = 0;
    this.#classCount = 0;
    this.#actionCount = 0;
    this.#actionBytes.clear();
    this.#needs.clear();
    this.#strings.clear();
    this.#classTable.clear();
    for (const klass of this.#touched.splice(0)) {
      this.#takers[IDLE][klass] = undefined;
      this.#takers[SPECULATIVE][klass] = undefined;
    }
  }

  /**
   * The turn of a need in acquisition is over. `order` is what it chose from, undefined when it
   * had nothing to choose; its actions are those from `firstAction` on.
   */
  acquired(
    row: Row,
    order: CostOrder | undefined,
    actions: ActionBuffer,
    firstAction: number,
  ): void {
    const { result } = row;
    result.recordPlace = this.#needCount++;
    const out = this.#needs;
    out.varint(this.#clusterPlace(row.cluster));
    out.varint(this.#fingerprintPlace(row.compiled.fingerprint));
    out.varint(this.#groupPlace(row.group));
    out.byte(
      (result.isSatisfied ? 1 : 0) |
        (result.isParked ? 2 : 0) |
        (result.domain === undefined ? 0 : 4),
    );
    if (result.domain !== undefined) out.text(result.domain);
    out.varint(result.creditedCount);
    out.varint(result.bootstrapCount);
    out.varint(result.provisionCount);
    if (!result.isSatisfied) this.#writeVector(result.deficit);
    const count = out.hole();
    // Parked and refused needs choose from nothing.
    if (order !== undefined && !result.isParked && !result.isHeldOff)
      out.patch(count, this.#writeCandidates(row, order, actions, firstAction));
    else out.patch(count, 0);
    this.#noteTakers(row, actions, firstAction);
    this.#writeActions(actions, firstAction);
  }

  /** The record as bytes, valid until the next cycle. */
  finish(header: RecordHeader, actions: ActionBuffer, short: readonly ShortNeed[]): Uint8Array {
    const out = this.#record;
    out.clear();
    out.uint32(RECORD_MAGIC);
    out.byte(RECORD_FORMAT);
    out.varint(header.cycle);
    out.double(header.nowMs);
    out.uint32(header.digestHigh);
    out.uint32(header.digestLow);
    this.#writeActions(actions, this.#actionCount);
    out.uint32(checksum(this.#actionBytes.written));
    this.#section(out, this.#stringCount, this.#strings);
    this.#section(out, this.#classCount, this.#classTable);
    this.#section(out, this.#needCount, this.#needs);
    out.varint(short.length);
    for (const need of short) this.#writeShort(out, need);
    out.varint(actions.length);
    out.bytes(this.#actionBytes.written);
    out.uint32(checksum(out.written));
    return out.written;
  }

  #section(out: ByteWriter, count: number, content: ByteWriter): void {
    out.varint(count);
    out.varint(content.length);
    out.bytes(content.written);
  }

  #writeShort(out: ByteWriter, { row, reasonCode }: ShortNeed): void {
    out.varint(row.result.recordPlace);
    out.byte(CODE_OF_UNMET.get(reasonCode) as number);
    out.varint(row.result.victimCount);
    out.varint(row.result.awaitingDrainCount);
    out.byte(CODE_OF_CANDIDATE.get(row.result.preemptionCode ?? 'chosen') as number);
  }

  /** Actions from `first` on, in order. Acquisitions are written while their need is at hand. */
  #writeActions(actions: ActionBuffer, first: number): void {
    const out = this.#actionBytes;
    const { columns, ids } = this.#inventory;
    for (let at = first; at < actions.length; at++) {
      const slot = actions.slot[at] as number;
      const row = actions.row[at];
      const cluster = actions.cluster[at] as number;
      out.byte(actions.kind[at] as number);
      out.text(ids[slot] as string);
      out.varints(
        cluster < 0 ? 0 : this.#clusterPlace(cluster) + 1,
        row === undefined ? 0 : row.result.recordPlace + 1,
        this.#classPlace(columns.klass[slot] as number),
        actions.graceSeconds[at] as number,
      );
      out.signed(columns.effectivePriority[slot] as number);
    }
    this.#actionCount = actions.length;
  }

  /** The classes in front of the order, as this need leaves them. */
  #writeCandidates(row: Row, order: CostOrder, actions: ActionBuffer, firstAction: number): number {
    const limit = row.result.isSatisfied ? MAX_CANDIDATES_COVERED : MAX_CANDIDATES;
    let count = 0;
    const start = this.#scanStart(order, actions, firstAction);
    const end = Math.min(order.klass.length, start + MAX_SCANNED_CLASSES);
    for (let entry = start; entry < end && count < limit; entry++) {
      const klass = order.klass[entry] as number;
      if (this.#writeCandidate(row, order, entry, klass, IDLE, actions, firstAction)) count += 1;
      if (count >= limit) break;
      if (this.#writeCandidate(row, order, entry, klass, SPECULATIVE, actions, firstAction))
        count += 1;
    }
    return row.result.isSatisfied ? count : count + this.#writeUnusable(row, limit - count);
  }

  /**
   * Where to look in an order of thousands of classes: at the tier that the need chose from, else
   * at the first one that is not used up.
   */
  #scanStart(order: CostOrder, actions: ActionBuffer, firstAction: number): number {
    if (order.klass.length <= MAX_SCANNED_CLASSES) return 0;
    const slot = firstAction < actions.length ? (actions.slot[firstAction] as number) : -1;
    if (slot >= 0) return order.klass.indexOf(this.#inventory.columns.klass[slot] as number);
    return order.tierStart[Math.min(order.idleTier, order.speculativeTier)] ?? 0;
  }

  /** Shapes that match but cannot host the unit, or are too risky at any price. */
  #writeUnusable(row: Row, limit: number): number {
    let count = 0;
    for (const klass of row.compiled.match.members.slice(0, MAX_SCANNED_CLASSES)) {
      if (count >= limit) break;
      const isTooSmall = !row.eligible.set.has(klass);
      const isInfinite = !isTooSmall && !isFiniteFor(this.#inventory, row.compiled, klass);
      if (!isTooSmall && !isInfinite) continue;
      const idle = this.#view.remaining(IDLE, klass);
      const left = idle + this.#view.remaining(SPECULATIVE, klass);
      if (left === 0) continue;
      const out = this.#needs;
      out.varint(this.#classPlace(klass));
      out.byte(idle > 0 ? IDLE : SPECULATIVE);
      out.varint(0);
      out.varint(left);
      out.byte(isTooSmall ? UNIT : INFINITE);
      count += 1;
    }
    return count;
  }

  #writeCandidate(
    row: Row,
    order: CostOrder,
    entry: number,
    klass: number,
    state: PoolState,
    actions: ActionBuffer,
    firstAction: number,
  ): boolean {
    const chosen = this.#chosenFrom(klass, state, actions, firstAction);
    const left = this.#view.remaining(state, klass);
    const taker = this.#takers[state][klass];
    if (chosen === 0 && left === 0 && taker === undefined) return false;
    const out = this.#needs;
    out.varints(this.#classPlace(klass), state, chosen, left);
    out.byte(this.#losingCode(row, order, entry, state, chosen, left, taker, actions, firstAction));
    return true;
  }

  #losingCode(
    row: Row,
    order: CostOrder,
    entry: number,
    state: PoolState,
    chosen: number,
    left: number,
    taker: Row | undefined,
    actions: ActionBuffer,
    firstAction: number,
  ): number {
    if (chosen > 0) return CHOSEN;
    if (this.#isOutside(row, order.klass[entry] as number)) return WRONG_DOMAIN;
    if (left === 0) {
      if (taker === undefined) return HIGHER;
      return comparePrecedence(taker.compiled.profile, row.compiled.profile) > 0 ? HIGHER : EQUAL;
    }
    const klass = order.klass[entry] as number;
    const { result, compiled } = row;
    const open = result.isSatisfied ? result.afterCredit : result.deficit;
    if (!this.#contributes(klass, open)) return NO_CONTRIBUTION;
    if (state === SPECULATIVE && !this.#view.hasQuota(this.#provider(klass))) return QUOTA;
    const spreadKey = compiled.profile.hardSpread?.topologyKey;
    const isSpread = spreadKey !== undefined;
    // Without a value of the key a machine belongs to no count.
    if (isSpread && this.#inventory.classes.valueOf(klass, spreadKey) === undefined)
      return MISMATCH;
    // A gang without a recorded domain was confined to the fallback's.
    if (!result.isSatisfied) return isSpread ? SKEW : WRONG_DOMAIN;
    if (state === SPECULATIVE && result.provisionCount === 0) return IDLE_PREFERRED;
    if (state === IDLE && this.#isPassedOver(row, order, entry, actions, firstAction)) return RISK;
    if (!isSpread || this.#tookCheaper(order, entry, state, actions, firstAction)) return COSTLIER;
    return SKEW;
  }

  #tookCheaper(
    order: CostOrder,
    entry: number,
    state: PoolState,
    actions: ActionBuffer,
    firstAction: number,
  ): boolean {
    const cost = order.cost[entry] as number;
    const end = Math.min(order.klass.length, MAX_SCANNED_CLASSES);
    for (let other = 0; other < end; other++) {
      if ((order.cost[other] as number) > cost) return false;
      const klass = order.klass[other] as number;
      if (this.#chosenFrom(klass, state, actions, firstAction) > 0) return true;
    }
    return false;
  }

  #provider(klass: number): number {
    return this.#inventory.classes.provider[klass] as number;
  }

  #contributes(klass: number, open: number): boolean {
    const { values, stride } = this.#vectors;
    const { allocatable } = this.#inventory.classes;
    for (let d = 0; d < stride; d++) {
      if ((values[open * stride + d] as number) === 0) continue;
      if ((allocatable.values[klass * allocatable.stride + d] as number) > 0) return true;
    }
    return false;
  }

  /** Some cheaper and less risky class was bought instead. */
  #isPassedOver(
    { result }: Row,
    order: CostOrder,
    entry: number,
    actions: ActionBuffer,
    firstAction: number,
  ): boolean {
    if (result.provisionCount === 0 || (order.term[entry] as number) === 0) return false;
    const end = Math.min(entry, MAX_SCANNED_CLASSES);
    for (let other = 0; other < end; other++) {
      if ((order.cost[other] as number) >= (order.cost[entry] as number)) break;
      if ((order.term[other] as number) >= (order.term[entry] as number)) continue;
      const klass = order.klass[other] as number;
      if (this.#chosenFrom(klass, SPECULATIVE, actions, firstAction) > 0) return true;
    }
    return false;
  }

  #isOutside({ compiled, result }: Row, klass: number): boolean {
    const { sameKey } = compiled;
    if (sameKey === undefined || result.domain === undefined) return false;
    return this.#inventory.classes.valueOf(klass, sameKey) !== result.domain;
  }

  #chosenFrom(klass: number, state: PoolState, actions: ActionBuffer, firstAction: number): number {
    const kind = state === IDLE ? ActionKind.Bootstrap : ActionKind.Provision;
    const { columns } = this.#inventory;
    let count = 0;
    for (let at = firstAction; at < actions.length; at++) {
      if (actions.kind[at] === kind && columns.klass[actions.slot[at] as number] === klass)
        count += 1;
    }
    return count;
  }

  #noteTakers(row: Row, actions: ActionBuffer, firstAction: number): void {
    for (let at = firstAction; at < actions.length; at++) {
      const klass = this.#inventory.columns.klass[actions.slot[at] as number] as number;
      const state = actions.kind[at] === ActionKind.Bootstrap ? IDLE : SPECULATIVE;
      if (this.#takers[state][klass] === undefined) this.#touched.push(klass);
      this.#takers[state][klass] = row;
    }
  }

  #writeVector(handle: number): void {
    const { values, stride } = this.#vectors;
    const out = this.#needs;
    const start = handle * stride;
    let count = 0;
    for (let d = 0; d < stride; d++) if ((values[start + d] as number) > 0) count += 1;
    out.byte(count);
    for (let d = 0; d < stride; d++) {
      const value = values[start + d] as number;
      if (value === 0) continue;
      out.text(this.#inventory.dimensions.name(d));
      out.varint(value);
    }
  }

  #clusterPlace(cluster: number): number {
    const known = this.#clusters.find(cluster, this.#cycle);
    if (known >= 0) return known;
    return this.#addString(this.#clusters, cluster, this.#inventory.clusters.text(cluster));
  }

  #fingerprintPlace(fingerprint: number): number {
    const known = this.#fingerprints.find(fingerprint, this.#cycle);
    if (known >= 0) return known;
    const text = this.#inventory.fingerprints.text(fingerprint);
    return this.#addString(this.#fingerprints, fingerprint, text);
  }

  #groupPlace(group: number): number {
    const known = this.#groups.find(group, this.#cycle);
    if (known >= 0) return known;
    return this.#addString(this.#groups, group, this.#inventory.groups.text(group));
  }

  #addString(places: Places, id: number, text: string): number {
    this.#strings.text(text);
    places.set(id, this.#cycle, this.#stringCount);
    return this.#stringCount++;
  }

  #classPlace(klass: number): number {
    const known = this.#classes.find(klass, this.#cycle);
    if (known >= 0) return known;
    const { classes } = this.#inventory;
    const shape = classes.shape(klass);
    const out = this.#classTable;
    out.text(shape?.provider ?? '');
    out.text(shape?.instanceType ?? '');
    out.text(shape?.zone ?? '');
    out.byte(classes.capacityType[klass] as number);
    out.double(classes.price[klass] as number);
    out.double(classes.probability[klass] as number);
    this.#classes.set(klass, this.#cycle, this.#classCount);
    return this.#classCount++;
  }
}

export interface ShortNeed {
  readonly row: Row;
  readonly reasonCode: string;
}

/** Dense id to place in the current record, without clearing between cycles. */
class Places {
  #cycles: Int32Array = new Int32Array(64);
  #places: Int32Array = new Int32Array(64);

  find(id: number, cycle: number): number {
    return this.#cycles[id] === cycle ? (this.#places[id] as number) : -1;
  }

  set(id: number, cycle: number, place: number): void {
    if (id >= this.#cycles.length) this.#grow(id + 1);
    this.#cycles[id] = cycle;
    this.#places[id] = place;
  }

  #grow(needed: number): void {
    const capacity = Math.max(needed, this.#cycles.length * 2);
    const cycles = new Int32Array(capacity);
    const places = new Int32Array(capacity);
    cycles.set(this.#cycles);
    places.set(this.#places);
    this.#cycles = cycles;
    this.#places = places;
  }
}

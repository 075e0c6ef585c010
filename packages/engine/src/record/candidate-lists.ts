// The candidates of each need: the classes in front of the order it chose from, each with the
// first reason why the rest of it lost. Needs of one profile that took from the same class found
// the same, until a class is used up: such lists are written once and named again.
//
// How many machines were taken and left is not written: it follows from the actions before.

import type { ActionBuffer } from '../actions/action-buffer.ts';
import type { CostOrder } from '../match/cost-order.ts';
import type { EligibleSet } from '../match/eligible-set.ts';
import { ActionKind } from '../model/action.ts';
import { comparePrecedence } from '../model/profile.ts';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import { isHeldBack, type Row } from '../needs/row.ts';
import { isFiniteFor } from '../phase1/may-serve.ts';
import { IDLE, type PoolState, type PoolView, SPECULATIVE } from '../phase1/pool-view.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import {
  CODE_OF_CANDIDATE,
  MAX_CANDIDATES,
  MAX_CANDIDATES_COVERED,
  MAX_SCANNED_CLASSES,
} from './format.ts';
import type { RecordTables } from './record-tables.ts';

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
const BRAKED = code('configure_failing');
const TYPE_FAILING = code('type_failing');

/** The list of needs that had nothing to choose from. */
const EMPTY_LIST = 0;
/** Dimensions whose openness fits in one number. */
const MAX_MASKED_DIMENSIONS = 30;

export class CandidateLists {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  readonly #view: PoolView;
  readonly #tables: RecordTables;
  readonly #actions: ActionBuffer;
  /** Of the need whose list is asked for; the last one is the last of the buffer. */
  #firstAction = 0;
  readonly bytes: ByteWriter = new ByteWriter();
  count = 0;
  /** By class and pool: who took from it last in this cycle. */
  readonly #takers: readonly [(Row | undefined)[], (Row | undefined)[]] = [[], []];
  readonly #touched: number[] = [];
  /** Actions whose takers are known; those behind are looked at when a list is written. */
  #notedCount = 0;
  /** Classes that were used up before this turn: lists of before may no longer be true. */
  #usedUpCount = 0;
  #hasLimits = false;
  readonly #known = new Map<EligibleSet, KnownLists>();
  /** The last of them: needs of one profile follow each other. */
  #last: KnownLists | undefined;

  constructor(
    inventory: Inventory,
    vectors: VectorTable,
    view: PoolView,
    tables: RecordTables,
    actions: ActionBuffer,
  ) {
    this.#inventory = inventory;
    this.#vectors = vectors;
    this.#view = view;
    this.#tables = tables;
    this.#actions = actions;
  }

  begin(): void {
    this.bytes.clear();
    this.bytes.byte(0);
    this.count = EMPTY_LIST + 1;
    this.#notedCount = 0;
    this.#usedUpCount = 0;
    this.#last = undefined;
    this.#hasLimits = this.#view.hasLimits;
    this.#known.clear();
    for (const klass of this.#touched) {
      this.#takers[IDLE][klass] = undefined;
      this.#takers[SPECULATIVE][klass] = undefined;
    }
    this.#touched.length = 0;
  }

  /**
   * The list of a need whose turn is over: its place. `pass` names the acquisition to its cost
   * order; its actions are those from `firstAction` on.
   */
  add(row: Row, pass: number, firstAction: number): number {
    this.#firstAction = firstAction;
    const list = this.#listOf(row, pass);
    this.#usedUpCount = this.#view.emptiedCount;
    return list;
  }

  #listOf(row: Row, pass: number): number {
    // Parked, refused and braked needs choose from nothing.
    if (row.result.isParked || isHeldBack(row.result)) return EMPTY_LIST;
    const choice = this.#onlyChoice(row);
    if (choice < 0) return this.#append(row, pass);
    const known = this.#knownFor(row);
    if (known.choice === choice) return known.list;
    let list = known.others?.get(choice);
    if (list === undefined) {
      list = this.#append(row, pass);
      remember(known, choice, list);
    }
    return list;
  }

  /** Who took what before this need. */
  #noteTakers(): void {
    const actions = this.#actions;
    for (let at = this.#notedCount; at < this.#firstAction; at++) {
      const klass = this.#classOf(at);
      const state = actions.kind[at] === ActionKind.Bootstrap ? IDLE : SPECULATIVE;
      const takers = this.#takers[state];
      if (takers[klass] === undefined) this.#touched.push(klass);
      takers[klass] = actions.row[at];
    }
    this.#notedCount = this.#firstAction;
  }

  /** A covered need without topology that took from one class and pool: their number, else −1. */
  #onlyChoice({ result, compiled }: Row): number {
    const actions = this.#actions;
    const firstAction = this.#firstAction;
    if (!result.isSatisfied || this.#hasLimits) return -1;
    if (compiled.sameKey !== undefined || compiled.profile.hardSpread !== undefined) return -1;
    if (firstAction >= actions.length || this.#vectors.stride > MAX_MASKED_DIMENSIONS) return -1;
    const klass = this.#classOf(firstAction);
    const kind = actions.kind[firstAction];
    for (let at = firstAction + 1; at < actions.length; at++) {
      if (actions.kind[at] !== kind || this.#classOf(at) !== klass) return -1;
    }
    return klass * 2 + (kind === ActionKind.Bootstrap ? IDLE : SPECULATIVE);
  }

  #knownFor({ compiled, eligible, result }: Row): KnownLists {
    const open = this.#openMask(result.afterCredit);
    let known = eligible === this.#last?.eligible ? this.#last : this.#known.get(eligible);
    const isTrue =
      known !== undefined &&
      known.compiled === compiled &&
      known.open === open &&
      known.usedUpCount === this.#usedUpCount;
    if (known === undefined || !isTrue) {
      const usedUpCount = this.#usedUpCount;
      known = {
        eligible,
        compiled,
        open,
        usedUpCount,
        choice: -1,
        list: EMPTY_LIST,
        others: undefined,
      };
      this.#known.set(eligible, known);
    }
    this.#last = known;
    return known;
  }

  /** Which dimensions were open: what a class must offer to contribute. */
  #openMask(handle: number): number {
    const { values, stride } = this.#vectors;
    let mask = 0;
    for (let d = 0; d < stride; d++) {
      if (values[handle * stride + d]! > 0) mask |= 1 << d;
    }
    return mask;
  }

  #classOf(at: number): number {
    return this.#inventory.columns.klass[this.#actions.slot[at]!]!;
  }

  #append(row: Row, pass: number): number {
    const order = row.eligible.order(row.compiled.interruptionBucket, pass);
    this.#noteTakers();
    const count = this.bytes.hole();
    this.bytes.patch(count, this.#write(row, order));
    return this.count++;
  }

  /** The classes in front of the order, as this need leaves them. */
  #write(row: Row, order: CostOrder): number {
    const limit = row.result.isSatisfied ? MAX_CANDIDATES_COVERED : MAX_CANDIDATES;
    let count = 0;
    const start = this.#scanStart(order);
    const end = Math.min(order.klass.length, start + MAX_SCANNED_CLASSES);
    for (let entry = start; entry < end && count < limit; entry++) {
      if (this.#writeCandidate(row, order, entry, IDLE)) count += 1;
      if (count >= limit) break;
      if (this.#writeCandidate(row, order, entry, SPECULATIVE)) count += 1;
    }
    return row.result.isSatisfied ? count : count + this.#writeUnusable(row, limit - count);
  }

  /**
   * Where to look in an order of thousands of classes: at the tier that the need chose from, else
   * at the first one that is not used up.
   */
  #scanStart(order: CostOrder): number {
    if (order.klass.length <= MAX_SCANNED_CLASSES) return 0;
    if (this.#firstAction < this.#actions.length) {
      return order.entryOf(this.#classOf(this.#firstAction));
    }
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
      this.#row(klass, idle > 0 ? IDLE : SPECULATIVE, isTooSmall ? UNIT : INFINITE);
      count += 1;
    }
    return count;
  }

  #writeCandidate(row: Row, order: CostOrder, entry: number, state: PoolState): boolean {
    const klass = order.klass[entry]!;
    const isChosen = this.#isChosen(klass, state);
    const left = this.#view.remaining(state, klass);
    if (!isChosen && left === 0 && this.#takers[state][klass] === undefined) return false;
    this.#row(klass, state, isChosen ? CHOSEN : this.#losingCode(row, order, entry, state, left));
    return true;
  }

  #row(klass: number, state: PoolState, code: number): void {
    this.bytes.varint(this.#tables.class(klass));
    this.bytes.byte(code * 2 + state);
  }

  #losingCode(row: Row, order: CostOrder, entry: number, state: PoolState, left: number): number {
    const klass = order.klass[entry]!;
    if (this.#isOutside(row, klass)) return WRONG_DOMAIN;
    if (left === 0) {
      const taker = this.#takers[state][klass];
      if (taker === undefined) return HIGHER;
      return comparePrecedence(taker.compiled.profile, row.compiled.profile) > 0 ? HIGHER : EQUAL;
    }
    const { result, compiled } = row;
    const open = result.isSatisfied ? result.afterCredit : result.deficit;
    if (!this.#contributes(klass, open)) return NO_CONTRIBUTION;
    if (state === SPECULATIVE && !this.#view.hasQuota(klass)) return QUOTA;
    if (state === SPECULATIVE && !this.#view.mayBuy(klass)) return TYPE_FAILING;
    if (result.blockedBy === 'brake') return BRAKED;
    const spreadKey = compiled.profile.hardSpread?.topologyKey;
    const isSpread = spreadKey !== undefined;
    // Without a value of the key a machine belongs to no count.
    if (isSpread && this.#inventory.classes.valueOf(klass, spreadKey) === undefined)
      return MISMATCH;
    // A gang without a recorded domain was confined to the fallback's.
    if (!result.isSatisfied) return isSpread ? SKEW : WRONG_DOMAIN;
    if (state === SPECULATIVE && result.provisionCount === 0) return IDLE_PREFERRED;
    if (state === IDLE && this.#isPassedOver(row, order, entry)) return RISK;
    if (isSpread) return this.#tookCheaper(order, entry, state) ? COSTLIER : SKEW;
    // Idle that is cheaper than all that was taken was passed over by the step rule, also when the
    // Speculative class that outbids it was not bought, because other Idle covered the need.
    if (state === IDLE && this.#isCheapest(order, entry)) return RISK;
    return COSTLIER;
  }

  /** Whether everything that the need took costs more. */
  #isCheapest(order: CostOrder, entry: number): boolean {
    const cost = order.cost[entry]!;
    for (let at = this.#firstAction; at < this.#actions.length; at++) {
      if (order.cost[order.entryOf(this.#classOf(at))]! <= cost) return false;
    }
    return true;
  }

  #tookCheaper(order: CostOrder, entry: number, state: PoolState): boolean {
    const cost = order.cost[entry]!;
    const end = Math.min(order.klass.length, MAX_SCANNED_CLASSES);
    for (let other = 0; other < end; other++) {
      if (order.cost[other]! > cost) return false;
      if (this.#isChosen(order.klass[other]!, state)) return true;
    }
    return false;
  }

  #contributes(klass: number, open: number): boolean {
    const { values, stride } = this.#vectors;
    const { allocatable } = this.#inventory.classes;
    for (let d = 0; d < stride; d++) {
      if (values[open * stride + d]! === 0) continue;
      if (allocatable.values[klass * allocatable.stride + d]! > 0) return true;
    }
    return false;
  }

  /** Some cheaper and less risky class was bought instead. */
  #isPassedOver({ result }: Row, order: CostOrder, entry: number): boolean {
    if (result.provisionCount === 0 || order.term[entry]! === 0) return false;
    const end = Math.min(entry, MAX_SCANNED_CLASSES);
    for (let other = 0; other < end; other++) {
      if (order.cost[other]! >= order.cost[entry]!) break;
      if (order.term[other]! >= order.term[entry]!) continue;
      if (this.#isChosen(order.klass[other]!, SPECULATIVE)) return true;
    }
    return false;
  }

  #isOutside({ compiled, result }: Row, klass: number): boolean {
    const { sameKey } = compiled;
    if (sameKey === undefined || result.domain === undefined) return false;
    return this.#inventory.classes.valueOf(klass, sameKey) !== result.domain;
  }

  /** Whether the need took from the class and pool. */
  #isChosen(klass: number, state: PoolState): boolean {
    const kind = state === IDLE ? ActionKind.Bootstrap : ActionKind.Provision;
    const actions = this.#actions;
    for (let at = this.#firstAction; at < actions.length; at++) {
      if (actions.kind[at] === kind && this.#classOf(at) === klass) return true;
    }
    return false;
  }
}

interface KnownLists {
  readonly eligible: EligibleSet;
  readonly compiled: CompiledProfile;
  readonly open: number;
  readonly usedUpCount: number;
  /** Class × 2 + pool that the first of its needs took from, and the place of its list. */
  choice: number;
  list: number;
  /** The same of the others: most have none. */
  others: Map<number, number> | undefined;
}

function remember(known: KnownLists, choice: number, list: number): void {
  if (known.choice < 0) {
    known.choice = choice;
    known.list = list;
    return;
  }
  known.others ??= new Map();
  known.others.set(choice, list);
}

// The step rule of acquisition (locked): which machine a need takes next. Idle goes before
// Speculative, with one exception: an idle machine that carries interruption risk is passed
// over while a cheaper Speculative machine with less risk exists, so expensive work does not
// land on spot merely because the spot machine was idle.
//
// Decided per class, never per machine: within a class only ids differ. Cost: the classes of
// the tiers in front; used-up tiers are skipped for the rest of the cycle.

import type { CostOrder } from '../match/cost-order.ts';
import type { Inventory } from '../store/inventory.ts';
import { slotKey } from '../store/sorted-slots.ts';
import { IDLE, type PoolState, type PoolView, SPECULATIVE } from './pool-view.ts';

/** Says whether a class still reduces an open dimension of the need. */
export type Contributes = (klass: number) => boolean;

export interface Step {
  state: PoolState;
  klass: number;
  /** Index in the cost order. */
  entry: number;
  slot: number;
}

export class StepRule {
  readonly #inventory: Inventory;
  readonly #view: PoolView;
  readonly #step: Step = { state: IDLE, klass: -1, entry: -1, slot: -1 };

  constructor(inventory: Inventory, view: PoolView) {
    this.#inventory = inventory;
    this.#view = view;
  }

  /** The next machine, or undefined when none is usable. The result is reused by the next call. */
  next(order: CostOrder, contributes: Contributes, isAlwaysServed = false): Step | undefined {
    if (order.isRiskFree && isAlwaysServed) {
      return this.#firstServed(order, IDLE) ?? this.#firstServed(order, SPECULATIVE);
    }
    if (order.isRiskFree) {
      return this.#first(order, IDLE, contributes) ?? this.#first(order, SPECULATIVE, contributes);
    }
    return this.#guarded(order, contributes);
  }

  /** The cheapest head of a pool; equal costs by id. */
  #first(order: CostOrder, state: PoolState, contributes: Contributes): Step | undefined {
    const start = state === IDLE ? order.idleTier : order.speculativeTier;
    let isFront = true;
    for (let tier = start; tier < order.tierCount; tier++) {
      const found = this.#headOfTier(order, tier, state, contributes, noLimit);
      if (found === FOUND) return this.#step;
      isFront = isFront && found === USED_UP;
      if (isFront) this.#skip(order, state, tier + 1);
    }
    return undefined;
  }

  /** The same where every class contributes: a wide tier keeps its heads in a heap. */
  #firstServed(order: CostOrder, state: PoolState): Step | undefined {
    for (;;) {
      const tier = state === IDLE ? order.idleTier : order.speculativeTier;
      if (tier >= order.tierCount) return undefined;
      const width = order.tierStart[tier + 1]! - order.tierStart[tier]!;
      const isFound =
        width < WIDE_TIER_CLASSES
          ? this.#headOfTier(order, tier, state, always, noLimit) === FOUND
          : this.#headOfHeap(order, tier, state);
      if (isFound) return this.#step;
      this.#skip(order, state, tier + 1);
    }
  }

  #headOfHeap(order: CostOrder, tier: number, state: PoolState): boolean {
    const heads = order.heads[state];
    if (heads.tier !== tier) this.#fillHeap(order, tier, state);
    while (!heads.isEmpty) {
      const klass = heads.topClass;
      if (!this.#isAvailable(state, klass)) {
        heads.pop();
        continue;
      }
      const slot = this.#view.head(state, klass);
      const key = this.#keyOf(state, slot);
      if (key !== heads.topKey) {
        heads.replaceTop(key);
        continue;
      }
      this.#step.state = state;
      this.#step.klass = klass;
      this.#step.entry = order.tierStart[tier]!;
      this.#step.slot = slot;
      return true;
    }
    return false;
  }

  #fillHeap(order: CostOrder, tier: number, state: PoolState): void {
    const start = order.tierStart[tier]!;
    const end = order.tierStart[tier + 1]!;
    const heads = order.heads[state];
    heads.begin(tier, end - start);
    for (let entry = start; entry < end; entry++) {
      const klass = order.klass[entry]!;
      if (!this.#isAvailable(state, klass)) continue;
      heads.push(klass, this.#keyOf(state, this.#view.head(state, klass)));
    }
  }

  /** Idle machines go by reclamation penalty before id, Speculative ones by id. */
  #keyOf(state: PoolState, slot: number): number {
    const { columns } = this.#inventory;
    return state === IDLE ? slotKey(columns, slot) : columns.rank[slot]!;
  }

  #skip(order: CostOrder, state: PoolState, tier: number): void {
    if (state === IDLE) order.idleTier = tier;
    else order.speculativeTier = tier;
  }

  /** The rule in full, for classes that carry risk. */
  #guarded(order: CostOrder, contributes: Contributes): Step | undefined {
    // Smallest risk among usable Speculative classes of strictly cheaper tiers.
    let cheaperRisk = Number.POSITIVE_INFINITY;
    let firstIdle = -1;
    for (let tier = 0; tier < order.tierCount; tier++) {
      const found = this.#headOfTier(order, tier, IDLE, contributes, (entry) =>
        this.#isNotAbove(order, entry, cheaperRisk),
      );
      if (found === FOUND) return this.#step;
      if (firstIdle < 0 && found !== USED_UP) {
        const any = this.#headOfTier(order, tier, IDLE, contributes, noLimit);
        if (any === FOUND) firstIdle = this.#step.entry;
      }
      cheaperRisk = Math.min(cheaperRisk, this.#riskOfTier(order, tier, contributes));
    }
    if (firstIdle < 0) return this.#first(order, SPECULATIVE, contributes);
    return this.#outbidding(order, firstIdle, contributes);
  }

  #isNotAbove(order: CostOrder, entry: number, risk: number): boolean {
    return order.term[entry]! <= risk;
  }

  #riskOfTier(order: CostOrder, tier: number, contributes: Contributes): number {
    let risk = Number.POSITIVE_INFINITY;
    const end = order.tierStart[tier + 1]!;
    for (let entry = order.tierStart[tier]!; entry < end; entry++) {
      const klass = order.klass[entry]!;
      if (!this.#isAvailable(SPECULATIVE, klass) || !contributes(klass)) continue;
      risk = Math.min(risk, order.term[entry]!);
    }
    return risk;
  }

  /** The first Speculative machine that is cheaper and less risky than this idle class. */
  #outbidding(order: CostOrder, idleEntry: number, contributes: Contributes): Step | undefined {
    const cost = order.cost[idleEntry]!;
    const term = order.term[idleEntry]!;
    for (let tier = 0; tier < order.tierCount; tier++) {
      if (order.cost[order.tierStart[tier]!]! >= cost) break;
      const found = this.#headOfTier(
        order,
        tier,
        SPECULATIVE,
        contributes,
        (entry) => order.term[entry]! < term,
      );
      if (found === FOUND) return this.#step;
    }
    return undefined;
  }

  #isAvailable(state: PoolState, klass: number): boolean {
    if (this.#view.remaining(state, klass) === 0) return false;
    return state === IDLE || this.#view.mayBuy(klass);
  }

  /** Fills the step with the smallest id among the tier's available classes. */
  #headOfTier(
    order: CostOrder,
    tier: number,
    state: PoolState,
    contributes: Contributes,
    allowed: (entry: number) => boolean,
  ): TierAnswer {
    let answer: TierAnswer = USED_UP;
    let best = Number.POSITIVE_INFINITY;
    const end = order.tierStart[tier + 1]!;
    for (let entry = order.tierStart[tier]!; entry < end; entry++) {
      const klass = order.klass[entry]!;
      if (!this.#isAvailable(state, klass)) continue;
      if (answer === USED_UP) answer = UNUSABLE;
      if (!allowed(entry) || !contributes(klass)) continue;
      const slot = this.#view.head(state, klass);
      const key = this.#keyOf(state, slot);
      if (key >= best) continue;
      best = key;
      answer = FOUND;
      this.#step.state = state;
      this.#step.klass = klass;
      this.#step.entry = entry;
      this.#step.slot = slot;
    }
    return answer;
  }
}

const USED_UP = 0;
const UNUSABLE = 1;
const FOUND = 2;
type TierAnswer = typeof USED_UP | typeof UNUSABLE | typeof FOUND;

/** Below this a walk over the heads is cheaper than a heap. */
const WIDE_TIER_CLASSES = 8;

function always(): boolean {
  return true;
}

function noLimit(): boolean {
  return true;
}

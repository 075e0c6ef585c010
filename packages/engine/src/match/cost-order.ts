// The classes of an eligible set in the order in which acquisition prefers them, for one
// interruption bucket: by effective cost, classes of equal cost together in a tier. Classes of
// infinite cost are absent: a pinned need never lands on a machine that may be interrupted.
// Price and probability are class properties, so no machine is ever sorted.

import {
  assert,
  bucketUpperBoundDollars,
  effectiveCost,
  interruptionTerm,
  type PenaltyBucket,
} from '@bigfleet/base';
import type { Classes } from '../store/classes.ts';
import { TierHeads } from './tier-heads.ts';

/** What is ordered: its members are only read when the version changed. */
export interface ClassGroup {
  readonly members: readonly number[];
  readonly version: number;
}

export class CostOrder {
  readonly #classes: Classes;
  readonly #set: ClassGroup;
  readonly #penaltyDollars: number;
  #version = -1;
  /** Classes of finite cost, cheapest first; class number breaks ties. */
  klass: Int32Array = new Int32Array(0);
  cost: Float64Array = new Float64Array(0);
  /** probability × penalty: the part of the cost that is risk. */
  term: Float64Array = new Float64Array(0);
  /** Tier t is entries tierStart[t] to tierStart[t + 1] − 1. */
  tierStart: Int32Array = new Int32Array(1);
  /** No class carries risk, so idle capacity is never passed over. */
  isRiskFree = true;
  /** Tiers before these are used up in the cycle named by `cycle`. */
  cycle = -1;
  idleTier = 0;
  speculativeTier = 0;
  /** Heads of a wide front tier, by pool; empty until the step rule fills them. */
  readonly heads: readonly [TierHeads, TierHeads] = [new TierHeads(), new TierHeads()];

  constructor(classes: Classes, set: ClassGroup, bucket: PenaltyBucket) {
    this.#classes = classes;
    this.#set = set;
    this.#penaltyDollars = bucketUpperBoundDollars(bucket);
  }

  get tierCount(): number {
    return this.tierStart.length - 1;
  }

  /** Where the class stands; the class must be among them. */
  entryOf(klass: number): number {
    const cost = this.#costOf(klass);
    let low = 0;
    let high = this.klass.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.cost[middle]!;
      if (other < cost || (other === cost && this.klass[middle]! < klass)) {
        low = middle + 1;
      } else high = middle;
    }
    return low;
  }

  #costOf(klass: number): number {
    const { price, probability } = this.#classes;
    return effectiveCost(price[klass]!, probability[klass]!, this.#penaltyDollars);
  }

  /** Ready for use in this cycle. */
  refresh(cycle: number): this {
    const { version } = this.#set;
    if (version !== this.#version) {
      this.#version = version;
      this.#rebuild();
      this.cycle = -1;
    }
    if (this.cycle !== cycle) {
      this.cycle = cycle;
      this.idleTier = 0;
      this.speculativeTier = 0;
      this.heads[0].tier = -1;
      this.heads[1].tier = -1;
    }
    return this;
  }

  #rebuild(): void {
    const { probability } = this.#classes;
    const all = this.#set.members.map((klass) => ({ klass, cost: this.#costOf(klass) }));
    assert(!all.some(({ cost }) => Number.isNaN(cost)), 'a cost that is no number orders nothing');
    const sorted = all.filter(({ cost }) => cost < Number.POSITIVE_INFINITY);
    sorted.sort((a, b) => a.cost - b.cost || a.klass - b.klass);
    this.klass = Int32Array.from(sorted, (entry) => entry.klass);
    this.cost = Float64Array.from(sorted, (entry) => entry.cost);
    this.term = Float64Array.from(sorted, ({ klass }) =>
      interruptionTerm(probability[klass]!, this.#penaltyDollars),
    );
    this.isRiskFree = this.term.every((term) => term === 0);
    const starts: number[] = [];
    for (let at = 0; at < sorted.length; at++) {
      if (at === 0 || this.cost[at] !== this.cost[at - 1]) starts.push(at);
    }
    this.tierStart = Int32Array.from([...starts, sorted.length]);
  }
}

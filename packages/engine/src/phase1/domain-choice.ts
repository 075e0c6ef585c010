// Which domain a Same need gets: one strict total order over the candidate values (locked),
// from current state only. The choice follows bindings, because a bound machine is the
// fulfilment; remembering the last choice would be a second ledger.
//
// Each domain is scored once, as numbers in the order of the rules; comparing is then cheap.

import { compareText } from '@bigfleet/base';
import type { DomainCoverage } from '../model/cycle.ts';
import type { Dimensions, VectorTable } from '../store/dimensions.ts';

/** Everything that one value of the Same key offers. */
export interface DomainBucket {
  value: string;
  count: number;
  /** Everything, acquirable supply included. */
  total: Float64Array;
  /** Bound to the need's cluster, or in creation for it. */
  creditable: Float64Array;
  /** The part that already serves this very gang. */
  own: Float64Array;
  /** Rule 1, then the rules of its kind in order; greater is preferred. */
  isSatisfiable: boolean;
  /** Three numbers. An array, because a number that a call returns is an allocation. */
  scores: Float64Array;
}

/** Adds `times` machines of the class; sums saturate. */
export function addMachines(
  into: Float64Array,
  allocatable: VectorTable,
  klass: number,
  times: number,
): void {
  const { values, stride } = allocatable;
  for (let d = 0; d < stride; d++) {
    const sum = into[d]! + values[klass * stride + d]! * times;
    into[d] = Math.min(sum, Number.MAX_SAFE_INTEGER);
  }
}

/** Buckets that are reused from need to need. */
export class BucketPool {
  readonly #buckets: DomainBucket[] = [];
  #used = 0;

  begin(): void {
    this.#used = 0;
  }

  take(value: string, stride: number): DomainBucket {
    const known = this.#buckets[this.#used];
    const bucket = known === undefined || known.total.length !== stride ? newBucket(stride) : known;
    this.#buckets[this.#used++] = bucket;
    bucket.value = value;
    bucket.count = 0;
    bucket.total.fill(0);
    bucket.creditable.fill(0);
    bucket.own.fill(0);
    return bucket;
  }
}

function newBucket(stride: number): DomainBucket {
  return {
    value: '',
    count: 0,
    total: new Float64Array(stride),
    creditable: new Float64Array(stride),
    own: new Float64Array(stride),
    isSatisfiable: false,
    scores: new Float64Array(3),
  };
}

/** The demand of one need, with its open dimensions in the order of their names. */
export class DomainChooser {
  readonly #dimensions: Dimensions;
  readonly #vectors: VectorTable;
  #demand: Float64Array = new Float64Array(0);
  /** The first `#openCount` are open. */
  #open: Int32Array = new Int32Array(0);
  #openCount = 0;
  /** Scratch of `best` and `ratio`. */
  readonly #best: DomainBucket[] = [];
  readonly #ratio: Float64Array = new Float64Array(1);

  constructor(dimensions: Dimensions, vectors: VectorTable) {
    this.#dimensions = dimensions;
    this.#vectors = vectors;
  }

  load(aggregate: number): void {
    const { values, stride } = this.#vectors;
    if (this.#demand.length < stride) {
      this.#demand = new Float64Array(stride);
      this.#open = new Int32Array(stride);
    }
    this.#openCount = 0;
    for (let d = 0; d < stride; d++) {
      const value = values[aggregate * stride + d]!;
      this.#demand[d] = value;
      if (value > 0) this.#addOpen(d);
    }
  }

  /** Floating sums depend on their order: by name it is the same in every process. */
  #addOpen(dimension: number): void {
    const open = this.#open;
    const name = this.#dimensions.name(dimension);
    let at = this.#openCount++;
    for (; at > 0; at--) {
      const before = open[at - 1]!;
      if (compareText(this.#dimensions.name(before), name) < 0) break;
      open[at] = before;
    }
    open[at] = dimension;
  }

  covers(supply: Float64Array): boolean {
    for (let at = 0; at < this.#openCount; at++) {
      const d = this.#open[at]!;
      if (supply[d]! < this.#demand[d]!) return false;
    }
    return true;
  }

  /** Capped, overflow in one dimension does not mask a hole in another. */
  ratio(supply: Float64Array, isCapped: boolean): number {
    this.#writeRatio(supply, isCapped, this.#ratio, 0);
    return this.#ratio[0]!;
  }

  #writeRatio(supply: Float64Array, isCapped: boolean, into: Float64Array, place: number): void {
    let sum = 0;
    for (let at = 0; at < this.#openCount; at++) {
      const d = this.#open[at]!;
      const share = supply[d]! / this.#demand[d]!;
      sum += isCapped ? Math.min(1, share) : share;
    }
    into[place] = sum;
  }

  /**
   * The one that bound machines alone decide: of the buckets that credit covers the strictly best,
   * more of its own first, then less too much. Undefined when there is none, or a tie.
   */
  decidedByCredit(buckets: readonly DomainBucket[], count: number): DomainBucket | undefined {
    let best: DomainBucket | undefined;
    let isTie = false;
    for (let at = 0; at < count; at++) {
      const bucket = buckets[at] as DomainBucket;
      if (!this.covers(bucket.creditable)) continue;
      this.#writeRatio(bucket.own, true, bucket.scores, 0);
      this.#writeRatio(bucket.creditable, false, bucket.scores, 1);
      const order = best === undefined ? -1 : compareCredit(bucket, best);
      if (order > 0) continue;
      isTie = order === 0;
      best = bucket;
    }
    return isTie ? undefined : best;
  }

  /**
   * Best first, at most `limit`; the head is the choice. Domains without a machine are out. The
   * list is reused by the next call.
   */
  best(
    buckets: readonly DomainBucket[],
    limit: number,
    count: number = buckets.length,
  ): readonly DomainBucket[] {
    const best = this.#best;
    let found = 0;
    for (let place = 0; place < count; place++) {
      const bucket = buckets[place] as DomainBucket;
      if (bucket.count === 0) continue;
      this.#score(bucket);
      let at = found;
      while (at > 0 && compare(bucket, best[at - 1] as DomainBucket) < 0) at -= 1;
      if (at >= limit) continue;
      if (found < limit) found += 1;
      for (let to = found - 1; to > at; to--) best[to] = best[to - 1] as DomainBucket;
      best[at] = bucket;
    }
    if (best.length > found) best.length = found;
    return best;
  }

  #score(bucket: DomainBucket): void {
    const { scores } = bucket;
    bucket.isSatisfiable = this.covers(bucket.total);
    if (bucket.isSatisfiable) {
      // Rules 2, 2b and 3. Where credit alone covers, only credit is weighed (docs/adr/0064):
      // otherwise a machine that a preemption frees moves the choice, and the next moves it back.
      const weighed = this.covers(bucket.creditable) ? bucket.creditable : bucket.total;
      this.#writeRatio(bucket.creditable, true, scores, 0);
      this.#writeRatio(bucket.own, true, scores, 1);
      this.#writeRatio(weighed, false, scores, 2);
      scores[2] = -scores[2]!;
    } else {
      // Rules 4 and 5, and what 2b is for satisfiable domains: without it, gangs that no domain
      // can hold take each other's racks for ever (docs/adr/0064).
      this.#writeRatio(bucket.total, true, scores, 0);
      this.#writeRatio(bucket.creditable, true, scores, 1);
      this.#writeRatio(bucket.own, true, scores, 2);
    }
  }

  /** For people: the worst dimension decides, in whole per mille, rounded down. */
  coverage(bucket: DomainBucket): DomainCoverage {
    let worst = 1000n;
    for (let at = 0; at < this.#openCount; at++) {
      const d = this.#open[at]!;
      const share = (BigInt(bucket.total[d]!) * 1000n) / BigInt(this.#demand[d]!);
      if (share < worst) worst = share;
    }
    return {
      domain: bucket.value,
      coveragePerMille: Number(worst),
      satisfiable: bucket.isSatisfiable,
    };
  }
}

/** Negative when `a` is preferred; never 0 for two values. */
function compare(a: DomainBucket, b: DomainBucket): number {
  if (a.isSatisfiable !== b.isSatisfiable) return a.isSatisfiable ? -1 : 1;
  for (let at = 0; at < a.scores.length; at++) {
    const difference = b.scores[at]! - a.scores[at]!;
    // Of the sign only: a fraction that a call returns is an allocation.
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return b.count - a.count || compareText(a.value, b.value);
}

/** Negative when `a` is preferred by what is bound in it; 0 for a tie. */
function compareCredit(a: DomainBucket, b: DomainBucket): number {
  const own = b.scores[0]! - a.scores[0]!;
  if (own !== 0) return own < 0 ? -1 : 1;
  const excess = a.scores[1]! - b.scores[1]!;
  return excess === 0 ? 0 : Math.sign(excess);
}

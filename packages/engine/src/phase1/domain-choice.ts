// Which domain a Same need gets: one strict total order over the candidate values (locked),
// from current state only. The choice follows bindings, because a bound machine is the
// fulfilment; remembering the last choice would be a second ledger.
//
// Each domain is scored once, as numbers in the order of the rules; comparing is then cheap.

import type { DomainCoverage } from '../cycle/types.ts';
import { compareText } from '../model/text-order.ts';
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
  first: number;
  second: number;
  third: number;
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
    const sum = (into[d] as number) + (values[klass * stride + d] as number) * times;
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
    first: 0,
    second: 0,
    third: 0,
  };
}

/** The demand of one need, with its open dimensions in the order of their names. */
export class DomainChooser {
  readonly #dimensions: Dimensions;
  readonly #vectors: VectorTable;
  #demand: number[] = [];
  #open: number[] = [];

  constructor(dimensions: Dimensions, vectors: VectorTable) {
    this.#dimensions = dimensions;
    this.#vectors = vectors;
  }

  load(aggregate: number): void {
    const { values, stride } = this.#vectors;
    this.#open = [];
    this.#demand = [];
    for (let d = 0; d < stride; d++) {
      this.#demand.push(values[aggregate * stride + d] as number);
      if ((this.#demand[d] as number) > 0) this.#open.push(d);
    }
    // Floating sums depend on their order: by name it is the same in every process.
    this.#open.sort((a, b) => compareText(this.#dimensions.name(a), this.#dimensions.name(b)));
  }

  covers(supply: Float64Array): boolean {
    for (const d of this.#open)
      if ((supply[d] as number) < (this.#demand[d] as number)) return false;
    return true;
  }

  /** Capped, overflow in one dimension does not mask a hole in another. */
  ratio(supply: Float64Array, isCapped: boolean): number {
    let sum = 0;
    for (const d of this.#open) {
      const share = (supply[d] as number) / (this.#demand[d] as number);
      sum += isCapped ? Math.min(1, share) : share;
    }
    return sum;
  }

  /** Best first, at most `limit`; the head is the choice. Domains without a machine are out. */
  best(buckets: Iterable<DomainBucket>, limit: number): DomainBucket[] {
    const best: DomainBucket[] = [];
    for (const bucket of buckets) {
      if (bucket.count === 0) continue;
      this.#score(bucket);
      let at = best.length;
      while (at > 0 && compare(bucket, best[at - 1] as DomainBucket) < 0) at -= 1;
      if (at >= limit) continue;
      best.splice(at, 0, bucket);
      if (best.length > limit) best.pop();
    }
    return best;
  }

  #score(bucket: DomainBucket): void {
    bucket.isSatisfiable = this.covers(bucket.total);
    if (bucket.isSatisfiable) {
      // Rules 2, 2b and 3. Where credit alone covers, only credit is weighed (docs/adr/0064):
      // otherwise a machine that a preemption frees moves the choice, and the next moves it back.
      const weighed = this.covers(bucket.creditable) ? bucket.creditable : bucket.total;
      bucket.first = this.ratio(bucket.creditable, true);
      bucket.second = this.ratio(bucket.own, true);
      bucket.third = -this.ratio(weighed, false);
    } else {
      // Rules 4 and 5, and what 2b is for satisfiable domains: without it, gangs that no domain
      // can hold take each other's racks for ever (docs/adr/0064).
      bucket.first = this.ratio(bucket.total, true);
      bucket.second = this.ratio(bucket.creditable, true);
      bucket.third = this.ratio(bucket.own, true);
    }
  }

  /** For people: the worst dimension decides, in whole per mille, rounded down. */
  coverage(bucket: DomainBucket): DomainCoverage {
    let worst = 1000n;
    for (const d of this.#open) {
      const share = (BigInt(bucket.total[d] as number) * 1000n) / BigInt(this.#demand[d] as number);
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
  if (a.first !== b.first) return b.first - a.first;
  if (a.second !== b.second) return b.second - a.second;
  if (a.third !== b.third) return b.third - a.third;
  return b.count - a.count || compareText(a.value, b.value);
}

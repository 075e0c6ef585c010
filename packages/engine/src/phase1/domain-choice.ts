// Which domain a Same need gets: one strict total order over the candidate values (locked),
// from current state only. The choice follows bindings, because a bound machine is the
// fulfilment; remembering the last choice would be a second ledger.

import type { DomainCoverage } from '../cycle/types.ts';
import { compareText } from '../model/text-order.ts';
import type { Dimensions, VectorTable } from '../store/dimensions.ts';

/** Everything that one value of the Same key offers. */
export interface DomainBucket {
  readonly value: string;
  count: number;
  /** Everything, acquirable supply included. */
  readonly total: Float64Array;
  /** Bound to the need's cluster, or in creation for it. */
  readonly creditable: Float64Array;
  /** The part that already serves this very gang. */
  readonly own: Float64Array;
}

export function newBucket(value: string, stride: number): DomainBucket {
  return {
    value,
    count: 0,
    total: new Float64Array(stride),
    creditable: new Float64Array(stride),
    own: new Float64Array(stride),
  };
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
    return this.#open.every((d) => (supply[d] as number) >= (this.#demand[d] as number));
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

  /** Negative when `a` is preferred. Buckets without a machine must not be passed. */
  compare(a: DomainBucket, b: DomainBucket): number {
    const aCovers = this.covers(a.total);
    if (aCovers !== this.covers(b.total)) return aCovers ? -1 : 1;
    const byKind = aCovers ? this.#compareSatisfiable(a, b) : this.#compareUnsatisfiable(a, b);
    return byKind || b.count - a.count || compareText(a.value, b.value);
  }

  #compareSatisfiable(a: DomainBucket, b: DomainBucket): number {
    // Where credit alone covers, only credit is weighed (docs/adr/0064). Otherwise a machine that
    // a preemption frees moves the choice, and the next one moves it back.
    const isCredited = this.covers(a.creditable) && this.covers(b.creditable);
    return (
      this.ratio(b.creditable, true) - this.ratio(a.creditable, true) ||
      this.ratio(b.own, true) - this.ratio(a.own, true) ||
      (isCredited
        ? this.ratio(a.creditable, false) - this.ratio(b.creditable, false)
        : this.ratio(a.total, false) - this.ratio(b.total, false))
    );
  }

  #compareUnsatisfiable(a: DomainBucket, b: DomainBucket): number {
    return (
      this.ratio(b.total, true) - this.ratio(a.total, true) ||
      this.ratio(b.creditable, true) - this.ratio(a.creditable, true) ||
      // What 2b is for satisfiable domains: without it, gangs that no domain can hold take each
      // other's racks for ever (docs/adr/0064).
      this.ratio(b.own, true) - this.ratio(a.own, true)
    );
  }

  choose(buckets: Iterable<DomainBucket>): DomainBucket | undefined {
    let best: DomainBucket | undefined;
    for (const bucket of buckets) {
      if (bucket.count === 0) continue;
      if (best === undefined || this.compare(bucket, best) < 0) best = bucket;
    }
    return best;
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
      satisfiable: this.covers(bucket.total),
    };
  }

  /** Best first, the head is the choice. */
  ranked(buckets: Iterable<DomainBucket>): DomainBucket[] {
    return [...buckets].filter((bucket) => bucket.count > 0).sort((a, b) => this.compare(a, b));
  }
}

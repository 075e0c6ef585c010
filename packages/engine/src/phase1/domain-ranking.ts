// The domains in the order in which a gang of one size prefers them while it has no machine in
// any: a heap over all domains, brought up to date when a gang asks. With thousands of racks,
// weighing each for each gang was most of a full pass.
//
// The order is that of the domain choice (domain-choice.ts) where nothing is creditable:
// satisfiable ones first, of these the least over-committed, of the others the best covered;
// then more machines, then the smallest value.

import { grown } from '../store/classes.ts';
import type { DomainTotals } from './domain-totals.ts';

/** The part of the domain choice that knows the gang's demand. */
export interface Scorer {
  covers(supply: Float64Array): boolean;
  ratio(supply: Float64Array, isCapped: boolean): number;
}

const EMPTY = 0;
const UNSATISFIABLE = 1;
const SATISFIABLE = 2;

export class DomainRanking {
  readonly #totals: DomainTotals;
  #epoch = -1;
  #read = 0;
  #kinds: Uint8Array = new Uint8Array(0);
  /** Greater is preferred. */
  #scores: Float64Array = new Float64Array(0);
  /** Domains, the best on top; and where each domain is. */
  #heap: Int32Array = new Int32Array(0);
  #places: Int32Array = new Int32Array(0);
  #supply: Float64Array = new Float64Array(0);
  /** Scratch of `best`: places in the heap that may be next. */
  #frontier: Int32Array = new Int32Array(16);
  #frontierCount = 0;

  constructor(totals: DomainTotals) {
    this.#totals = totals;
  }

  /** Takes in what changed; `scorer` has loaded the size that this ranking is for. */
  follow(scorer: Scorer): void {
    const { epoch, changes } = this.#totals;
    if (this.#epoch !== epoch) {
      this.#rebuild(scorer);
      return;
    }
    for (; this.#read < changes.length; this.#read++) {
      const domain = changes[this.#read]!;
      this.#score(scorer, domain);
      this.#settle(this.#places[domain]!);
    }
  }

  /** Appends the best domains that hold machines and are not excluded, at most `limit`. */
  best(limit: number, isExcluded: (domain: number) => boolean, into: number[]): void {
    this.#frontierCount = 0;
    if (this.#heap.length > 0) this.#widen(0);
    let left = limit;
    while (left > 0 && this.#frontierCount > 0) {
      const place = this.#takeBest();
      const domain = this.#heap[place]!;
      if (this.#kinds[domain] === EMPTY) return;
      for (let child = place * 2 + 1; child <= place * 2 + 2; child++) {
        if (child < this.#heap.length) this.#widen(child);
      }
      if (isExcluded(domain)) continue;
      into.push(domain);
      left -= 1;
    }
  }

  #widen(place: number): void {
    if (this.#frontierCount === this.#frontier.length) {
      this.#frontier = grown(this.#frontier, new Int32Array(this.#frontierCount * 2));
    }
    this.#frontier[this.#frontierCount++] = place;
  }

  /** The frontier is as short as what was asked for. */
  #takeBest(): number {
    const frontier = this.#frontier;
    let best = 0;
    for (let at = 1; at < this.#frontierCount; at++) {
      if (this.#isBefore(frontier[at]!, frontier[best]!)) best = at;
    }
    const place = frontier[best]!;
    frontier[best] = frontier[--this.#frontierCount]!;
    return place;
  }

  #rebuild(scorer: Scorer): void {
    const { epoch, changes, counts, stride } = this.#totals;
    const count = counts.length;
    this.#epoch = epoch;
    this.#read = changes.length;
    this.#supply = new Float64Array(stride);
    if (this.#heap.length !== count) {
      this.#kinds = new Uint8Array(count);
      this.#scores = new Float64Array(count);
      this.#heap = new Int32Array(count);
      this.#places = new Int32Array(count);
    }
    for (let domain = 0; domain < count; domain++) {
      this.#score(scorer, domain);
      this.#heap[domain] = domain;
      this.#places[domain] = domain;
    }
    for (let place = (count >>> 1) - 1; place >= 0; place--) this.#sink(place);
  }

  #score(scorer: Scorer, domain: number): void {
    const { counts, sums, stride } = this.#totals;
    if (counts[domain] === 0) {
      this.#kinds[domain] = EMPTY;
      this.#scores[domain] = 0;
      return;
    }
    const supply = this.#supply;
    for (let d = 0; d < stride; d++) {
      supply[d] = Math.min(sums[domain * stride + d]!, Number.MAX_SAFE_INTEGER);
    }
    const isSatisfiable = scorer.covers(supply);
    this.#kinds[domain] = isSatisfiable ? SATISFIABLE : UNSATISFIABLE;
    this.#scores[domain] = isSatisfiable
      ? -scorer.ratio(supply, false)
      : scorer.ratio(supply, true);
  }

  #isBefore(placeA: number, placeB: number): boolean {
    const a = this.#heap[placeA]!;
    const b = this.#heap[placeB]!;
    if (this.#kinds[a] !== this.#kinds[b]) {
      return this.#kinds[a]! > this.#kinds[b]!;
    }
    if (this.#scores[a] !== this.#scores[b]) {
      return this.#scores[a]! > this.#scores[b]!;
    }
    const { counts } = this.#totals;
    if (counts[a] !== counts[b]) return counts[a]! > counts[b]!;
    return a < b;
  }

  /** Brings one domain to where it belongs now. */
  #settle(place: number): void {
    let at = place;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
    this.#sink(at);
  }

  #sink(place: number): void {
    let at = place;
    for (;;) {
      let first = at;
      for (let child = at * 2 + 1; child <= at * 2 + 2; child++) {
        if (child < this.#heap.length && this.#isBefore(child, first)) first = child;
      }
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #swap(a: number, b: number): void {
    const first = this.#heap[a]!;
    const second = this.#heap[b]!;
    this.#heap[a] = second;
    this.#heap[b] = first;
    this.#places[second] = a;
    this.#places[first] = b;
  }
}

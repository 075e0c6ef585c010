// Changes of state as they were seen, the last so many: dwell percentiles, failures and join times are
// computed from these and from nothing else, so that an answer about the past is the same computation over
// fewer of them. A snapshot adds none: what happened in a gap was not seen.

import type { Percentiles } from '../api/index.ts';

const KEPT = 131_072;

export interface Transition {
  readonly atMs: number;
  /** In the state that was left. */
  readonly dwellMs: number;
  readonly from: number;
  /** 0: it vanished. */
  readonly to: number;
  /** Numbers of texts. */
  readonly provider: number;
  readonly instanceType: number;
  readonly error: number;
  readonly shard: number;
}

export class Transitions {
  readonly #at = new Float64Array(KEPT);
  readonly #dwell = new Float64Array(KEPT);
  readonly #from = new Uint8Array(KEPT);
  readonly #to = new Uint8Array(KEPT);
  readonly #provider = new Uint32Array(KEPT);
  readonly #type = new Uint32Array(KEPT);
  readonly #error = new Uint32Array(KEPT);
  readonly #shard = new Uint16Array(KEPT);
  #count = 0;

  push(seen: Transition): void {
    const place = this.#count % KEPT;
    this.#at[place] = seen.atMs;
    this.#dwell[place] = Math.max(0, seen.dwellMs);
    this.#from[place] = seen.from;
    this.#to[place] = seen.to;
    this.#provider[place] = seen.provider;
    this.#type[place] = seen.instanceType;
    this.#error[place] = seen.error;
    this.#shard[place] = seen.shard;
    this.#count += 1;
  }

  /** Of the oldest that is kept; undefined when all are, or none. */
  get droppedThroughMs(): number | undefined {
    return this.#count > KEPT ? this.#at[this.#count % KEPT] : undefined;
  }

  /** Oldest first, up to the moment. */
  *until(atMs: number): Generator<Transition> {
    const first = Math.max(0, this.#count - KEPT);
    for (let count = first; count < this.#count; count++) {
      const place = count % KEPT;
      if ((this.#at[place] ?? 0) > atMs) continue;
      yield {
        atMs: this.#at[place] ?? 0,
        dwellMs: this.#dwell[place] ?? 0,
        from: this.#from[place] ?? 0,
        to: this.#to[place] ?? 0,
        provider: this.#provider[place] ?? 0,
        instanceType: this.#type[place] ?? 0,
        error: this.#error[place] ?? 0,
        shard: this.#shard[place] ?? 0,
      };
    }
  }

  markTexts(isUsed: Uint8Array): void {
    const last = Math.min(this.#count, KEPT);
    for (let place = 0; place < last; place++) {
      isUsed[this.#provider[place] ?? 0] = 1;
      isUsed[this.#type[place] ?? 0] = 1;
      isUsed[this.#error[place] ?? 0] = 1;
    }
  }
}

export const noPercentiles: Percentiles = { count: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };

/** Nearest rank, exact. */
export function percentilesOf(samples: readonly number[]): Percentiles {
  if (samples.length === 0) return noPercentiles;
  const sorted = Float64Array.from(samples).sort();
  const rank = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? 0;
  return {
    count: sorted.length,
    p50Ms: rank(0.5),
    p90Ms: rank(0.9),
    p99Ms: rank(0.99),
    maxMs: sorted.at(-1) ?? 0,
  };
}

// When the last few thousand cycles ended, so that an age in cycles can be told as a time. An older
// age is told as the oldest time that is known, never as a guess before it.

const KEPT_CYCLES = 4_096;

export class CycleTimes {
  readonly #times: BigInt64Array = new BigInt64Array(KEPT_CYCLES);
  #newest = 0;
  #oldest = 0;

  note(cycle: number, unixNanos: bigint): void {
    if (this.#oldest === 0) this.#oldest = cycle;
    this.#newest = cycle;
    this.#oldest = Math.max(this.#oldest, cycle - KEPT_CYCLES + 1);
    this.#times[cycle % KEPT_CYCLES] = unixNanos;
  }

  get newestCycle(): number {
    return this.#newest;
  }

  /** 0 when no cycle has run. */
  get newestUnixNanos(): bigint {
    return this.#newest === 0 ? 0n : this.at(this.#newest);
  }

  at(cycle: number): bigint {
    const known = Math.min(Math.max(cycle, this.#oldest), this.#newest);
    return this.#times[known % KEPT_CYCLES] ?? 0n;
  }
}

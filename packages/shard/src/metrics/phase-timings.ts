// How long the parts of the last cycles took, for GetShardStatus (wire-additions §5.1): a histogram only
// says "between b and 2b", and one since the start says nothing of the last minutes. One ring per phase;
// a cycle writes one number into each and allocates nothing, quantiles are computed when a status is asked for.

/** In the order in which they run: hints go out when the actions are queued. */
export const PHASES = [
  'reconcile',
  'snapread',
  'phase1',
  'phase2',
  'phase3',
  'execute',
  'emit',
] as const;
export type Phase = (typeof PHASES)[number];

/** The whole of it; after its parts. */
const CYCLE = 'cycle';

export const KEPT_CYCLES = 256;

export interface PhaseTiming {
  readonly phase: Phase | typeof CYCLE;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
  /** Measured ones, at most 256; 0: none yet. */
  readonly cycles: number;
}

class Ring {
  readonly #seconds = new Float64Array(KEPT_CYCLES);
  #noted = 0;

  note(seconds: number): void {
    this.#seconds[this.#noted % KEPT_CYCLES] = seconds;
    this.#noted += 1;
  }

  /** Ascending. */
  sorted(): Float64Array {
    return this.#seconds.slice(0, Math.min(this.#noted, KEPT_CYCLES)).sort();
  }
}

export class PhaseTimings {
  readonly #rings: ReadonlyMap<PhaseTiming['phase'], Ring> = new Map(
    ([...PHASES, CYCLE] as const).map((phase) => [phase, new Ring()]),
  );

  note(phase: PhaseTiming['phase'], seconds: number): void {
    this.#rings.get(phase)?.note(seconds);
  }

  /** Every phase, measured or not. */
  read(): PhaseTiming[] {
    return Array.from(this.#rings, ([phase, ring]) => {
      const sorted = ring.sorted();
      return {
        phase,
        p50Seconds: rank(sorted, 0.5),
        p99Seconds: rank(sorted, 0.99),
        maxSeconds: rank(sorted, 1),
        cycles: sorted.length,
      };
    });
  }
}

/** The smallest sample that so large a part of all do not exceed: always one that was measured. */
function rank(sorted: Float64Array, quantile: number): number {
  return sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0;
}

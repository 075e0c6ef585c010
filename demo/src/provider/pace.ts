// How long things take at the simulated provider and what goes wrong, drawn from one seed. Real
// clouds take minutes; here seconds stand for them, so that a person sees whole lives of machines.
//
// Of every block of transitions that may fail exactly one does, at a drawn place: independent draws
// would leave some short runs without any failure, and a demonstration must show one.

import { assert, type Random } from '@bigfleet/base';

export type Step = 'create' | 'configure' | 'drain' | 'delete';

type Range = readonly [loMs: number, hiMs: number];

export const dwellMs: Readonly<Record<Step, Range>> = {
  create: [700, 2_000],
  configure: [400, 1_200],
  drain: [200, 700],
  delete: [200, 700],
};
export const firstInterruptionMs: Range = [3_000, 5_000];
export const nextInterruptionMs: Range = [7_000, 14_000];
/** Between the notice of an interruption and the loss of the host. */
export const NOTICE_MS = 1_500;
/** Creates and configures of which one fails. */
export const FAILURE_BLOCK = 16;

export class Pace {
  readonly #dwell: Random;
  readonly #failures: Random;
  readonly #interruptions: Random;
  #leftInBlock = 0;
  #failsAt = 0;
  #interruptionCount = 0;

  constructor(random: Random) {
    this.#dwell = random.stream('dwell');
    this.#failures = random.stream('failures');
    this.#interruptions = random.stream('interruptions');
  }

  dwellMs(step: Step): number {
    return within(this.#dwell, dwellMs[step]);
  }

  /** Call once per transition. Drains and deletes never fail: nothing would be learnt from it. */
  fails(step: Step): boolean {
    if (step === 'drain' || step === 'delete') return false;
    if (this.#leftInBlock === 0) {
      this.#leftInBlock = FAILURE_BLOCK;
      this.#failsAt = 1 + this.#failures.below(FAILURE_BLOCK);
    }
    const isChosen = this.#leftInBlock === this.#failsAt;
    this.#leftInBlock -= 1;
    return isChosen;
  }

  /** Wait before the next interruption; call once for each. */
  interruptionMs(): number {
    const range = this.#interruptionCount === 0 ? firstInterruptionMs : nextInterruptionMs;
    this.#interruptionCount += 1;
    return within(this.#interruptions, range);
  }

  victim<T>(candidates: readonly T[]): T {
    const chosen = candidates[this.#interruptions.below(candidates.length)];
    assert(chosen !== undefined, 'a victim is chosen among some');
    return chosen;
  }
}

function within(random: Random, [lo, hi]: Range): number {
  return lo + random.float() * (hi - lo);
}

// A misfortune that waits for a step of a transfer, because few moments of a seed are one.

import type { Random } from '@bigfleet/base';
import type { TransferStep } from './fleet-shard.ts';
import { pick } from './pick.ts';

const STEPS = ['frozen', 'released', 'claimed', 'gone'] as const;
const MISFORTUNES = ['restore', 'restore', 'crash', 'depose'] as const;

export type AmbushMisfortune = (typeof MISFORTUNES)[number];

export class Ambush {
  readonly misfortune: AmbushMisfortune;
  readonly #step: TransferStep;
  #skip: number;

  constructor(random: Random) {
    this.#step = pick(random, STEPS);
    this.misfortune = pick(random, MISFORTUNES);
    this.#skip = random.below(2);
  }

  /** What is gone has to be cleared first, and its slot used anew: a few reports later. */
  get waitsForReports(): number {
    return this.#step === 'gone' ? 2 : 0;
  }

  /** True for the step that it waited for. */
  isSprungBy(step: TransferStep): boolean {
    if (step !== this.#step) return false;
    this.#skip -= 1;
    return this.#skip < 0;
  }
}

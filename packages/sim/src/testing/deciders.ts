// The decision functions that every scenario and loop is run under. A build of the engine is added
// here and nowhere else: it must give the oracle's bytes in every golden and hold every law.

import { engineCycle, oracleCycle } from '@bigfleet/engine';
import { IncrementalEngine } from '../incremental-engine.ts';
import type { Decide } from '../step.ts';

export interface Decider {
  readonly name: string;
  readonly decide: Decide;
  /** Fast enough for the full-size tests. */
  readonly isFast: boolean;
}

export const deciders: readonly Decider[] = [
  { name: 'oracle', decide: oracleCycle, isFast: false },
  { name: 'engine', decide: engineCycle, isFast: true },
  { name: 'incremental engine', decide: new IncrementalEngine().decide, isFast: true },
];

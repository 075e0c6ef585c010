// What the decision record of a cycle does not say, because it was decided before: which of its
// actions were held back and why, and which roll-ups were refused or held since the last one. As
// bytes, because they go to the disk and to readers as they are; none when there is nothing to say.

import { type CycleDispositions, encodeDispositions, type RefusedRollups } from '@bigfleet/engine';
import type { CycleAnswer } from '../engine-host/answer.ts';
import type { ActuationRails, Disposition } from './dispose.ts';

const NOTHING = new Uint8Array(0);
const NONE: RefusedRollups = { rollups: [], unnamedRollupCount: 0 };

export interface DisposedCycle {
  readonly answer: CycleAnswer;
  readonly disposition: Disposition;
  readonly rails: ActuationRails;
  /** Undefined: nobody refuses any. */
  readonly refused: RefusedRollups | undefined;
}

/** Empty when there is nothing to say, or no record that it could stand beside. */
export function dispositionsOfCycle(disposed: DisposedCycle): Uint8Array {
  const { answer, disposition, refused = NONE } = disposed;
  const { runs } = disposition.heldBack;
  const isSilent = runs.length === 0 && refused.rollups.length === 0;
  return isSilent || answer.record.length === 0 ? NOTHING : encodeDispositions(factsOf(disposed));
}

function factsOf({ answer, disposition, rails, refused = NONE }: DisposedCycle): CycleDispositions {
  const { counts, runs } = disposition.heldBack;
  return {
    cycle: answer.cycle,
    reclaimCapFraction: Math.max(0, rails.reclaimCapFraction),
    maxActionsPerCycle: Math.max(0, rails.maxActionsPerCycle),
    actionCount: answer.actions.count,
    counts,
    runs,
    ...refused,
  };
}

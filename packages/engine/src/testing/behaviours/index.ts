// Every behaviour of engine §12 that a single cycle can show, for whoever claims to be a cycle.

import { describeNormalization } from './normalization.ts';
import { describePhase1Plain } from './phase1-plain.ts';
import { describePhase1Same } from './phase1-same.ts';
import { describePhase2 } from './phase2.ts';
import { describePhase3 } from './phase3.ts';
import type { RunCycle } from './run.ts';
import { describeSpread } from './spread.ts';

export type { RunCycle } from './run.ts';

export function describeBehaviours(run: RunCycle): void {
  describeNormalization(run);
  describePhase1Plain(run);
  describePhase1Same(run);
  describeSpread(run);
  describePhase2(run);
  describePhase3(run);
}

// Every behaviour of engine §12 that a single cycle can show, for whoever claims to be a cycle.

import { describeNormalization } from './normalization.ts';
import { describeAcquisition } from './phase1-acquire.ts';
import { describeContention } from './phase1-contention.ts';
import { describeCredit } from './phase1-credit.ts';
import { describePhase1Same } from './phase1-same.ts';
import { describeUnmet } from './phase1-unmet.ts';
import { describePhase2 } from './phase2.ts';
import { describePhase3 } from './phase3.ts';
import { describeSpread } from './spread.ts';

import type { RunCycle } from '../build.ts';

export function describeBehaviours(run: RunCycle): void {
  describeNormalization(run);
  describeAcquisition(run);
  describeContention(run);
  describeCredit(run);
  describeUnmet(run);
  describePhase1Same(run);
  describeSpread(run);
  describePhase2(run);
  describePhase3(run);
}

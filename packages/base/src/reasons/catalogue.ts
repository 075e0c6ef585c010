// All reason tables under the names of their sets, for generated docs, CLI help and UI texts.
// Decision code uses the typed table of its own set; one code can occur in several sets.

import { actionReasons } from './action-reasons.ts';
import { candidateReasons } from './candidate-reasons.ts';
import { instructionReasons, transferAborts } from './coordination-reasons.ts';
import { counterfactuals } from './counterfactuals.ts';
import type { ReasonEntry } from './entry.ts';
import {
  machineRefusals,
  requestRefusals,
  rollupRefusals,
  sessionRefusals,
} from './input-refusals.ts';
import {
  deferredOutcomes,
  drainOperatorOutcomes,
  executeOutcomes,
  skippedOutcomes,
} from './outcomes.ts';
import { unmetReasons } from './unmet-reasons.ts';

export type ReasonSet =
  | 'action'
  | 'unmet'
  | 'candidate'
  | 'execute_outcome'
  | 'skipped'
  | 'deferred'
  | 'drain_operator'
  | 'machine_refusal'
  | 'rollup_refusal'
  | 'request_refusal'
  | 'session_refusal'
  | 'instruction'
  | 'transfer_abort'
  | 'counterfactual';

export const reasonCatalogue: Readonly<Record<ReasonSet, Readonly<Record<string, ReasonEntry>>>> = {
  action: actionReasons,
  unmet: unmetReasons,
  candidate: candidateReasons,
  execute_outcome: executeOutcomes,
  skipped: skippedOutcomes,
  deferred: deferredOutcomes,
  drain_operator: drainOperatorOutcomes,
  machine_refusal: machineRefusals,
  rollup_refusal: rollupRefusals,
  request_refusal: requestRefusals,
  session_refusal: sessionRefusals,
  instruction: instructionReasons,
  transfer_abort: transferAborts,
  counterfactual: counterfactuals,
};

/** The texts of a code, or undefined for a code that is not in the set. */
export function reasonEntry(set: ReasonSet, code: string): ReasonEntry | undefined {
  const table = reasonCatalogue[set];
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

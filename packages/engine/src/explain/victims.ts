// The bound machines that Phase 2 looked at for one recorded need, as rows and as sentences. Costs
// are what the machine would cost the need; what decides among victims is in `victim`.

import type { DecisionRecord, RecordedNeed, RecordedVictim } from '../record/format.ts';
import type { ExplainCandidate } from './answer.ts';
import { losersSentence, whyLost } from './candidate-words.ts';
import { costs, penaltyDollars } from './candidates.ts';
import { dollarAmount, shapeWords } from './words.ts';

/** `subjectId` names its row; a row of victims is named by the first of them. */
export function victimRows(
  { needs }: DecisionRecord,
  index: number,
  subjectId: string,
): readonly ExplainCandidate[] {
  const need = needs[index] as RecordedNeed;
  const penalty = penaltyDollars(need);
  return need.victims.map((victim, at) => {
    const { shape, code, effectivePriority, chosenCount, leftCount } = victim;
    const { score, reclamationPenalty, interruptionPenalty } = victim;
    return {
      ...costs(shape, penalty),
      machineId: nameOf(victim, subjectId),
      description: `bound ${shapeWords(shape)} at priority ${effectivePriority}`,
      rank: at + 1,
      chosen: code === 'chosen',
      reasonCode: code,
      machineCount: chosenCount + leftCount,
      victim: { effectivePriority, score, interruptionPenalty, reclamationPenalty },
    };
  });
}

/** A subject behind the few that a row names keeps to its action: the row names another. */
function nameOf({ code, machineIds }: RecordedVictim, subjectId: string): string {
  if (machineIds.includes(subjectId)) return subjectId;
  return code === 'chosen' ? (machineIds[0] ?? '') : '';
}

/** Which bound machines were looked at and left, in the order of the record. */
export function sparedSentence(rows: readonly ExplainCandidate[]): string | undefined {
  return losersSentence('Not preempted', rows, sparedWords);
}

function sparedWords(row: ExplainCandidate): string {
  return `${row.machineCount} × ${row.description}${scoreWords(row)}: ${whyLost(row)}`;
}

/** ` (score 4.2; an interruption costs $1.00, a reclamation $2.00)`; nothing without a score. */
export function scoreWords({ victim }: ExplainCandidate): string {
  if (victim?.score === undefined) return '';
  const { score, interruptionPenalty, reclamationPenalty } = victim;
  const points = Number(score.toPrecision(SCORE_DIGITS));
  const interruption = penaltyWords(interruptionPenalty);
  const reclamation = penaltyWords(reclamationPenalty);
  return ` (score ${points}; an interruption costs ${interruption}, a reclamation ${reclamation})`;
}

const SCORE_DIGITS = 9;

function penaltyWords(dollars: number): string {
  return dollars === Number.POSITIVE_INFINITY ? 'more than any amount' : dollarAmount(dollars);
}

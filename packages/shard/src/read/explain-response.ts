// An explanation as the wire carries it: a renaming, field by field. A candidate row that stands for
// a class, with no machine to name, is named by what the class is.

import { BigFleetError } from '@bigfleet/base';
import type { Counterfactual, Displacement, ExplainCandidate } from '@bigfleet/engine';
import type {
  CounterfactualSchema,
  DisplacementSchema,
  ExplainCandidateSchema,
  ExplainRequest,
  ExplainResponseSchema,
} from '@bigfleet/wire';
import {
  counterfactualLines,
  type ExplainQuestion,
  type ExplainResult,
} from '../offline/explain-records.ts';
import { machineSubject, needSubject } from './requests.ts';
import type { Init, RowInit } from './wire-init.ts';

export function explainQuestion(request: ExplainRequest): ExplainQuestion {
  const { subject, cycle, counterfactuals } = request;
  if (subject.case === undefined) {
    throw new BigFleetError('read_request_invalid', 'subject: give machine_id or need');
  }
  if (cycle < 0n) throw new BigFleetError('read_request_invalid', `cycle: ${cycle} is negative`);
  return {
    subject:
      subject.case === 'machineId' ? machineSubject(subject.value) : needSubject(subject.value),
    ...(cycle === 0n ? {} : { cycle }),
    hasCounterfactuals: counterfactuals,
  };
}

export function explainResponse(result: ExplainResult): Init<typeof ExplainResponseSchema> {
  if (result.kind === 'not_found') throw new BigFleetError('record_not_found', result.text);
  const { cycle, atUnixNanos, answer, dispositions, counterfactuals } = result;
  const tried =
    typeof counterfactuals === 'object' && counterfactuals.kind === 'changes'
      ? counterfactuals
      : undefined;
  // The changes are a list of their own.
  const untried = tried === undefined ? counterfactualLines(counterfactuals) : [];
  // A machine that was looked at and left has a reason and rows like one that was not.
  const isExplained = answer.kind !== 'not_mentioned';
  return {
    cycle,
    atUnixNanos,
    reasonCode: isExplained ? answer.reasonCode : '',
    text: [answer.text, ...dispositions.map(({ text }) => text), ...untried].join(' '),
    candidates: isExplained ? answer.candidates.map(candidateRow) : [],
    displacements: isExplained ? answer.displacements.map(displacementRow) : [],
    counterfactuals: (tried?.changes ?? []).map(counterfactualRow),
    truncated: tried?.truncated === true || (isExplained && answer.truncated),
  };
}

function candidateRow(candidate: ExplainCandidate): RowInit<typeof ExplainCandidateSchema> {
  // What Phase 2 compared has no field of its own: the text tells it, the description its priority.
  const { machineId, description, victim: _, ...rest } = candidate;
  return { ...rest, machineId: machineId === '' ? description : machineId };
}

function displacementRow({
  need,
  machineId,
  priority,
  reasonCode,
}: Displacement): RowInit<typeof DisplacementSchema> {
  const { cluster, fingerprint, group } = need;
  return {
    need: { clusterId: cluster, profileFingerprint: fingerprint, group },
    machineId,
    priority,
    reasonCode,
  };
}

function counterfactualRow({
  reasonCode,
  text,
  dollarsPerHour,
  verified,
}: Counterfactual): RowInit<typeof CounterfactualSchema> {
  return { reasonCode, text, dollarsPerHour, verified };
}

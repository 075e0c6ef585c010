// Why a machine was bootstrapped, created, preempted, reclaimed or released in one cycle.

import { actionReasons } from '@bigfleet/base';
import { ActionKind, isAcquisition, reasonOf } from '../model/action.ts';
import type { DecisionRecord, RecordedAction, RecordedNeed } from '../record/format.ts';
import type { Displacement, ExplainAnswer, ExplainCandidate, Spared } from './answer.ts';
import { costWords, losersSentence, whyLost } from './candidate-words.ts';
import { candidateRows } from './candidates.ts';
import { priorityOf, refOf } from './displacements.ts';
import { findSpared, type FoundSpared } from './find-subject.ts';
import { scoreWords, sparedSentence, victimRows } from './victims.ts';
import { clause, duration, listed, needWords, oneOf, perHour } from './words.ts';

export function explainMachine(record: DecisionRecord, machineId: string): ExplainAnswer {
  const action = record.actions.find((each) => each.machineId === machineId);
  const { cycle, nowMs: atMs } = record;
  if (action === undefined) {
    const spared = findSpared(record, machineId);
    if (spared !== undefined) return explainSpared(record, machineId, spared);
    return { kind: 'not_mentioned', cycle, atMs, text: silence(cycle, machineId) };
  }
  const base = { kind: 'explained', cycle, atMs, reasonCode: reasonOf(action.kind) } as const;
  if (isAcquisition(action.kind)) {
    const { rows, isTruncated } = candidateRows(record, action.need, machineId);
    const text = acquiredText(record, action, rows);
    return { ...base, text, candidates: rows, displacements: [], truncated: isTruncated };
  }
  const victims = victimsBeside(record, action);
  return {
    ...base,
    text: lostText(record, action, victims),
    candidates: victims,
    displacements: preemptedBy(record, action),
    truncated: victims.length > 0 && record.needs[action.need]?.isVictimsTruncated === true,
  };
}

/** Those that Phase 2 looked at for the need that took this one. */
function victimsBeside(
  record: DecisionRecord,
  { kind, need, machineId }: RecordedAction,
): readonly ExplainCandidate[] {
  const isKnown = kind === ActionKind.Preempt && record.needs[need] !== undefined;
  return isKnown ? victimRows(record, need, machineId) : [];
}

function explainSpared(record: DecisionRecord, machineId: string, spared: FoundSpared): Spared {
  const { need, index, reasonCode } = spared;
  const { cycle, nowMs: atMs } = record;
  const rows = victimRows(record, index, machineId);
  const own = rows.find((row) => row.machineId === machineId) as ExplainCandidate;
  const text = [
    `Machine ${machineId} was looked at for ${needWords(need)} and left alone:`,
    `${whyLost(own)}.`,
    `It is one of ${own.machineCount} × ${own.description}${scoreWords(own)}.`,
    ...(need.victimCount === 0 ? [] : [takenInstead(rows)]),
  ].join(' ');
  const truncated = need.isVictimsTruncated;
  const about = { cycle, atMs, reasonCode, text };
  return { kind: 'spared', ...about, candidates: rows, displacements: [], truncated };
}

function takenInstead(rows: readonly ExplainCandidate[]): string {
  const words = rows
    .filter(({ chosen }) => chosen)
    .map((row) => `${row.machineCount} × ${row.description}${scoreWords(row)}`);
  return `Taken: ${listed(words, NAMED)}.`;
}

const NAMED = 3;

function silence(cycle: number, machineId: string): string {
  return (
    `Cycle ${cycle} decided nothing about machine ${machineId}: it was neither taken nor drained ` +
    'nor released. A need of its cluster keeps it, or nobody needed it, or it was in transition, ' +
    'failed or not ours to use; or this shard does not know it.'
  );
}

function acquiredText(
  record: DecisionRecord,
  action: RecordedAction,
  rows: readonly ExplainCandidate[],
): string {
  const { machineId, kind, shape } = action;
  const need = record.needs[action.need] as RecordedNeed;
  const [verb, reason] =
    kind === ActionKind.Bootstrap
      ? ['bootstrapped', actionReasons['phase1.idle']]
      : ['created', actionReasons['phase1.speculative']];
  const own = rows.find((row) => row.machineId === machineId);
  const cost = own === undefined ? perHour(shape.pricePerHour) : costWords(own);
  return [
    `Machine ${machineId} was ${verb} for ${needWords(need)}: ${clause(reason.meaning)}.`,
    `It is ${oneOf(shape)} at ${cost}.`,
    ...(need.domain === '' ? [] : [`The gang was to share the domain ${need.domain}.`]),
    losersSentence('Next best', rows),
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function preemptedBy(record: DecisionRecord, action: RecordedAction): readonly Displacement[] {
  const need = record.needs[action.need];
  if (action.kind !== ActionKind.Preempt || need === undefined) return [];
  const { machineId } = action;
  return [
    { need: refOf(need), machineId, priority: priorityOf(need), reasonCode: 'phase2.inversion' },
  ];
}

function lostText(
  record: DecisionRecord,
  action: RecordedAction,
  victims: readonly ExplainCandidate[],
): string {
  switch (action.kind) {
    case ActionKind.Preempt:
      return preemptedText(record, action, victims);
    case ActionKind.Reclaim:
      return reclaimedText(action);
    default:
      return releasedText(action);
  }
}

function preemptedText(
  record: DecisionRecord,
  action: RecordedAction,
  victims: readonly ExplainCandidate[],
): string {
  const need = record.needs[action.need];
  const { machineId, cluster, graceSeconds, effectivePriority, shape } = action;
  const by = need === undefined ? 'a need' : needWords(need);
  const gap = need === undefined ? 0 : priorityOf(need) - effectivePriority;
  return [
    `Machine ${machineId} was taken from cluster ${cluster} for ${by}:`,
    `${clause(actionReasons['phase2.inversion'].meaning)}.`,
    `What runs on it has priority ${effectivePriority}, ${gap} below;`,
    `it gets ${duration(graceSeconds)} to leave, because a wider gap means shorter notice.`,
    'Among the machines that would do, those with the widest gap go first, then those whose',
    'interruption and reclamation cost least, then by id.',
    `The machine is ${oneOf(shape)} at ${perHour(shape.pricePerHour)}.`,
    sparedSentence(victims),
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

function reclaimedText({ machineId, cluster, graceSeconds, shape }: RecordedAction): string {
  return [
    `Machine ${machineId} was reclaimed from cluster ${cluster}:`,
    `${clause(actionReasons['phase3.excess'].meaning)}.`,
    `What runs on it gets ${duration(graceSeconds)} to leave.`,
    `That saves ${perHour(shape.pricePerHour)} once it is released;`,
    'the costliest machines of a cluster go first.',
  ].join(' ');
}

function releasedText({ machineId, shape }: RecordedAction): string {
  return [
    `Machine ${machineId} was given back to its provider:`,
    `${clause(actionReasons['phase3.release'].meaning)}.`,
    `It was ${oneOf(shape)}; that saves ${perHour(shape.pricePerHour)}.`,
  ].join(' ');
}

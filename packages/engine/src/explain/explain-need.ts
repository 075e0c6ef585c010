// Why a need is covered or short after one cycle, and who was served ahead of it.

import { candidateReasons, type UnmetCode, unmetReasons } from '@bigfleet/base';
import type { DecisionRecord, RecordedNeed } from '../record/format.ts';
import {
  type Displacement,
  type ExplainAnswer,
  type ExplainCandidate,
  MAX_EXPLAINED_CANDIDATES,
  type NeedRef,
} from './answer.ts';
import { costWords, losersSentence } from './candidate-words.ts';
import { candidateRows } from './candidates.ts';
import { takenAhead } from './displacements.ts';
import { type FoundNeed, findNeed } from './find-subject.ts';
import { sparedSentence, victimRows } from './victims.ts';
import { clause, counted, countedAre, listed, needWords, quantities, sentence } from './words.ts';

const NAMED = 3;

export function explainNeed(record: DecisionRecord, ref: NeedRef): ExplainAnswer {
  const { cycle, nowMs: atMs } = record;
  const found = findNeed(record, ref);
  if (found === undefined) {
    return { kind: 'not_mentioned', cycle, atMs, text: silence(cycle, ref) };
  }
  const { rows, isTruncated } = candidateRows(record, found.index, '');
  const { reasonCode, isSatisfied, isVictimsTruncated } = found.need;
  const victims = victimRows(record, found.index, '');
  const candidates = [...rows, ...victims];
  const ahead = isSatisfied ? NOBODY : takenAhead(record, found.index);
  return {
    kind: 'explained',
    cycle,
    atMs,
    reasonCode,
    text: needText(found, rows, victims, ahead.chain),
    candidates: candidates
      .slice(0, MAX_EXPLAINED_CANDIDATES)
      .map((row, at) => ({ ...row, rank: at + 1 })),
    displacements: ahead.chain,
    truncated:
      isTruncated ||
      ahead.isTruncated ||
      isVictimsTruncated ||
      candidates.length > MAX_EXPLAINED_CANDIDATES,
  };
}

const NOBODY = { chain: [], isTruncated: false };

function silence(cycle: number, ref: NeedRef): string {
  return (
    `Cycle ${cycle} had nothing to decide for ${needWords(ref)}: the machines that its cluster ` +
    'has, or that are being created for it, cover it; or its cluster reports no such need.'
  );
}

function needText(
  { need, isMerged }: FoundNeed,
  rows: readonly ExplainCandidate[],
  victims: readonly ExplainCandidate[],
  ahead: readonly Displacement[],
): string {
  const parts = [
    isMerged ? MERGED : undefined,
    need.isSatisfied ? coveredSentence(need) : shortSentence(need),
    need.isSatisfied ? undefined : unmetReasons[need.reasonCode].meaning,
    need.isSatisfied ? undefined : hasSentence(need),
    takenSentence(rows),
    aheadSentence(ahead),
    preemptionSentence(need),
    sparedSentence(victims),
    losersSentence(need.isSatisfied ? 'Next best' : 'No help', rows),
    need.isSatisfied ? undefined : `What to do: ${clause(unmetReasons[need.reasonCode].action)}.`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

const MERGED =
  'Gangs that fit on one machine are decided together, without their common domain; this is ' +
  'what was decided for them.';

function coveredSentence(need: RecordedNeed): string {
  const parts = [
    ...(need.creditedCount > 0 ? [`${counted(need.creditedCount, 'machine')} it had`] : []),
    ...(need.bootstrapCount > 0 ? [`${counted(need.bootstrapCount, 'idle machine')}`] : []),
    ...(need.provisionCount > 0 ? [`${counted(need.provisionCount, 'new machine')}`] : []),
  ];
  return sentence(`${needWords(need)} is covered by ${listed(parts, parts.length)}`);
}

function shortSentence(need: RecordedNeed): string {
  return sentence(`${needWords(need)} lacks ${quantities(need.deficit)}`);
}

function hasSentence(need: RecordedNeed): string {
  const domain = need.domain === '' ? '' : ` in the domain ${need.domain}`;
  const taken = need.bootstrapCount + need.provisionCount;
  const has = `It has ${need.creditedCount === 0 ? 'no machine' : counted(need.creditedCount, 'machine')}`;
  return `${has}${domain}${taken === 0 ? '' : ` and takes ${taken}`}.`;
}

function takenSentence(rows: readonly ExplainCandidate[]): string | undefined {
  const taken = rows.filter(({ chosen }) => chosen);
  if (taken.length === 0) return undefined;
  const words = taken.map(
    (row) => `${row.machineCount} × ${row.description} (${row.machineId}) at ${costWords(row)}`,
  );
  return `Taken: ${listed(words, NAMED)}.`;
}

function aheadSentence(ahead: readonly Displacement[]): string | undefined {
  if (ahead.length === 0) return undefined;
  const words = ahead.map(({ machineId, need, priority, reasonCode }) => {
    const how = reasonCode === 'claimed_higher_precedence' ? 'comes first' : 'equal, but earlier';
    return `cluster ${need.cluster} took ${machineId} (priority ${priority}, ${how})`;
  });
  return `Ahead of it in this cycle ${listed(words, NAMED)}.`;
}

/** Reasons for which nobody even looked for machines to preempt. */
const NO_VICTIM_SOUGHT: ReadonlySet<UnmetCode> = new Set([
  'awaiting_drain',
  'no_matching_supply',
  'min_unit_too_large',
  'no_stable_supply',
  'bootstrap_refused',
  'configure_failing',
]);

const NO_VICTIM = 'No machine that it could use may be taken from a strictly lower priority.';

function preemptionSentence(need: RecordedNeed): string | undefined {
  const { awaitingDrainCount, victimCount, preemptionCode, reasonCode } = need;
  const parts = [
    ...(awaitingDrainCount > 0
      ? [`${countedAre(awaitingDrainCount, 'machine')} draining already`]
      : []),
    ...(victimCount > 0
      ? [`${countedAre(victimCount, 'machine')} taken from lower priorities and must drain first`]
      : []),
  ];
  if (parts.length > 0) return `To serve it, ${listed(parts, parts.length)}.`;
  if (preemptionCode === undefined || preemptionCode === 'chosen') return undefined;
  if (NO_VICTIM_SOUGHT.has(reasonCode)) return undefined;
  // The code speaks of one machine; here it stands for all.
  if (preemptionCode === 'victim_priority_not_lower') return NO_VICTIM;
  // Otherwise every machine has its own reason, told next.
  if (need.victims.length > 0) return undefined;
  return `Nothing was preempted: ${clause(candidateReasons[preemptionCode].meaning)}.`;
}

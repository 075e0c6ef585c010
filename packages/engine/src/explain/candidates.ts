// The candidates of one recorded need as rows: what it took, from its actions, because the
// recorded list is bounded and may end before a chosen class; then what it left, and why.

import { bucketUpperBoundDollars, effectiveCost } from '@bigfleet/base';
import { ActionKind, isAcquisition } from '../model/action.ts';
import { parseFingerprint } from '../model/profile.ts';
import {
  type DecisionRecord,
  MAX_CANDIDATES,
  MAX_CANDIDATES_COVERED,
  type RecordedCandidate,
  type RecordedClass,
  type RecordedNeed,
} from '../record/format.ts';
import { type ExplainCandidate, MAX_EXPLAINED_CANDIDATES } from './answer.ts';
import { shapeWords } from './words.ts';

export interface CandidateRows {
  readonly rows: readonly ExplainCandidate[];
  readonly isTruncated: boolean;
}

/** `subjectId`, if taken, names its row; other rows are named by the first machine taken. */
export function candidateRows(
  record: DecisionRecord,
  index: number,
  subjectId: string,
): CandidateRows {
  const need = record.needs[index] as RecordedNeed;
  const penalty = penaltyDollars(need);
  const taken = takenByClass(record, index);
  const lost = need.candidates.filter(({ chosenCount }) => chosenCount === 0);
  const rows = [
    ...taken.map((group) => takenRow(group, penalty, subjectId)),
    ...lost.map((candidate) => lostRow(candidate, penalty)),
  ];
  const limit = need.isSatisfied ? MAX_CANDIDATES_COVERED : MAX_CANDIDATES;
  return {
    rows: rows.slice(0, MAX_EXPLAINED_CANDIDATES).map((row, at) => ({ ...row, rank: at + 1 })),
    isTruncated: rows.length > MAX_EXPLAINED_CANDIDATES || need.candidates.length >= limit,
  };
}

/** A profile of a later layout has no readable penalty: then the price alone is shown. */
export function penaltyDollars({ fingerprint }: RecordedNeed): number {
  const profile = parseFingerprint(fingerprint);
  return profile === undefined ? 0 : bucketUpperBoundDollars(profile.interruptionBucket);
}

interface TakenGroup {
  readonly shape: RecordedClass;
  readonly kind: number;
  readonly ids: string[];
}

/** In the order in which the need first took from each class and pool. */
function takenByClass({ actions }: DecisionRecord, index: number): TakenGroup[] {
  const groups: TakenGroup[] = [];
  for (const action of actions) {
    if (action.need !== index || !isAcquisition(action.kind)) continue;
    const { shape, kind, machineId } = action;
    const known = groups.find((group) => group.shape === shape && group.kind === kind);
    if (known === undefined) groups.push({ shape, kind, ids: [machineId] });
    else known.ids.push(machineId);
  }
  return groups;
}

function takenRow({ shape, kind, ids }: TakenGroup, penalty: number, subjectId: string): Row {
  return {
    ...costs(shape, penalty),
    machineId: ids.includes(subjectId) ? subjectId : ids[0]!,
    description: described(shape, kind === ActionKind.Bootstrap),
    chosen: true,
    reasonCode: 'chosen',
    machineCount: ids.length,
  };
}

function lostRow({ shape, pool, leftCount, code }: RecordedCandidate, penalty: number): Row {
  return {
    ...costs(shape, penalty),
    machineId: '',
    description: described(shape, pool === 'idle'),
    chosen: false,
    reasonCode: code,
    machineCount: leftCount,
  };
}

type Row = Omit<ExplainCandidate, 'rank'>;

type Costs = Pick<
  ExplainCandidate,
  'pricePerHour' | 'interruptionProbability' | 'interruptionPenalty' | 'effectiveCost'
>;

export function costs(
  { pricePerHour, interruptionProbability }: RecordedClass,
  penalty: number,
): Costs {
  return {
    pricePerHour,
    interruptionProbability,
    interruptionPenalty: penalty,
    effectiveCost: effectiveCost(pricePerHour, interruptionProbability, penalty),
  };
}

function described(shape: RecordedClass, isIdle: boolean): string {
  return `${isIdle ? 'idle' : 'new'} ${shapeWords(shape)}`;
}

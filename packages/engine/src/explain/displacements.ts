// Who took machines ahead of a need in the same cycle. Needs stand in the record in the order of
// their turns, and a turn's actions follow each other, so "ahead" is a comparison of places.

import { comparePrecedence, parseFingerprint } from '../model/profile.ts';
import type {
  DecisionRecord,
  RecordedAction,
  RecordedCandidate,
  RecordedNeed,
} from '../record/format.ts';
import { ActionKind, isAcquisition } from '../model/action.ts';
import { type Displacement, MAX_DISPLACEMENTS, type NeedRef } from './answer.ts';

export interface DisplacementChain {
  readonly chain: readonly Displacement[];
  readonly isTruncated: boolean;
}

/** Losing these cost the need nothing: it could not have used them. */
const OUT_OF_REACH: ReadonlySet<string> = new Set([
  'wrong_domain',
  'min_unit_too_small',
  'infinite_cost',
]);

/** Machines that a short need could have used and that earlier turns took. */
export function takenAhead(record: DecisionRecord, index: number): DisplacementChain {
  const need = record.needs[index] as RecordedNeed;
  const usable = need.candidates.filter(({ code }) => !OUT_OF_REACH.has(code));
  const chain: Displacement[] = [];
  for (const action of record.actions) {
    if (!isAcquisition(action.kind) || action.need >= index || !isFrom(action, usable)) continue;
    if (chain.length === MAX_DISPLACEMENTS) return { chain, isTruncated: true };
    const taker = record.needs[action.need] as RecordedNeed;
    chain.push({
      need: refOf(taker),
      machineId: action.machineId,
      priority: priorityOf(taker),
      reasonCode: isHigher(taker, need) ? 'claimed_higher_precedence' : 'claimed_equal_precedence',
    });
  }
  return { chain, isTruncated: false };
}

/** Classes are shared objects inside one decoded record. */
function isFrom({ shape, kind }: RecordedAction, usable: readonly RecordedCandidate[]): boolean {
  const pool = kind === ActionKind.Bootstrap ? 'idle' : 'speculative';
  return usable.some((candidate) => candidate.shape === shape && candidate.pool === pool);
}

function isHigher(a: RecordedNeed, b: RecordedNeed): boolean {
  const [mine, other] = [parseFingerprint(a.fingerprint), parseFingerprint(b.fingerprint)];
  return mine !== undefined && other !== undefined && comparePrecedence(mine, other) > 0;
}

export function refOf({ cluster, fingerprint, group }: RecordedNeed): NeedRef {
  return { cluster, fingerprint, group };
}

/** 0 for a profile of a later layout. */
export function priorityOf({ fingerprint }: NeedRef): number {
  return parseFingerprint(fingerprint)?.priority ?? 0;
}

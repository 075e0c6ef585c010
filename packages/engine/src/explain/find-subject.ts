// Finds what a record says about a machine or a need. A gang that fits on one machine is merged
// with its like before the decision, so its own row is not in the record: the merged one is.

import type { CandidateReason } from '@bigfleet/base';
import { parseFingerprint, withoutSame } from '../model/profile.ts';
import type { DecisionRecord, RecordedNeed } from '../record/format.ts';
import type { NeedRef } from './answer.ts';

export interface FoundNeed {
  /** Place in `record.needs`. */
  readonly index: number;
  readonly need: RecordedNeed;
  /** The row stands for the gang without its Same requirement. */
  readonly isMerged: boolean;
}

export interface FoundSpared {
  readonly index: number;
  readonly need: RecordedNeed;
  readonly reasonCode: CandidateReason;
}

/** The first need, in the order of acquisition, for which a bound machine was named as left. */
export function findSpared({ needs }: DecisionRecord, machineId: string): FoundSpared | undefined {
  for (const [index, need] of needs.entries()) {
    for (const { code, machineIds } of need.victims) {
      if (code !== 'chosen' && machineIds.includes(machineId)) {
        return { index, need, reasonCode: code };
      }
    }
  }
  return undefined;
}

/** A short row before a covered one: rows of several gang sizes can share one identity. */
export function findNeed(record: DecisionRecord, ref: NeedRef): FoundNeed | undefined {
  const exact = indexOf(record, ref);
  if (exact >= 0) return found(record, exact, false);
  const profile = parseFingerprint(ref.fingerprint);
  if (profile?.same === undefined) return undefined;
  const { fingerprint } = withoutSame(profile);
  const merged = indexOf(record, { cluster: ref.cluster, fingerprint, group: '' });
  return merged < 0 ? undefined : found(record, merged, true);
}

function found({ needs }: DecisionRecord, index: number, isMerged: boolean): FoundNeed {
  return { index, need: needs[index] as RecordedNeed, isMerged };
}

function indexOf({ needs }: DecisionRecord, ref: NeedRef): number {
  const isIt = (need: RecordedNeed): boolean =>
    need.cluster === ref.cluster &&
    need.fingerprint === ref.fingerprint &&
    need.group === ref.group;
  const short = needs.findIndex((need) => !need.isSatisfied && isIt(need));
  return short >= 0 ? short : needs.findIndex(isIt);
}

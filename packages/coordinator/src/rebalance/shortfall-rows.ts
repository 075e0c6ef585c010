// The rows that a pass may answer, in the one order in which it answers them: priority, then age,
// then shard id, then the position in the report. Rows that a pass must not answer get their reason
// here. A peer that does not know our fields says the same by age and requirements.

import { compareText } from '@bigfleet/base';
import { Operator, type Resources, type Shortfall } from '@bigfleet/wire';
import type { ShardPicture } from '../reports/soft-state.ts';
import type { RowRejection } from '../moves/pass-reasons.ts';
import type { ShortfallRef } from '../moves/plan.ts';

export interface ShortfallRow {
  readonly picture: ShardPicture;
  readonly shortfall: Shortfall;
  readonly ref: ShortfallRef;
  /** One and the same over passes, so that "also in the previous pass" can be asked. */
  readonly key: string;
}

export function rowsOf(picture: ShardPicture): readonly ShortfallRow[] {
  return picture.shortfalls.map((shortfall) => {
    const fingerprint = fingerprintOf(shortfall);
    return {
      picture,
      shortfall,
      ref: {
        shardId: picture.shardId,
        fingerprint,
        priority: shortfall.priority,
        ageCycles: shortfall.ageCycles,
        reasonCode: shortfall.reasonCode,
      },
      key: `${picture.shardId}/${shortfall.priority}/${fingerprint}`,
    };
  });
}

export function rowRejection(row: ShortfallRow, ageGate: number): RowRejection | undefined {
  if (row.shortfall.ageCycles <= ageGate) return 'age_below_gate';
  if (isTopologyConstrained(row.shortfall)) return 'topology_constrained';
  return isEmpty(row.shortfall.deficit) ? 'no_deficit' : undefined;
}

export function isEmpty(resources: Resources | undefined): boolean {
  return resources === undefined || Object.keys(resources.resources).length === 0;
}

export function byUrgency(a: ShortfallRow, b: ShortfallRow): number {
  return (
    b.ref.priority - a.ref.priority ||
    b.ref.ageCycles - a.ref.ageCycles ||
    compareText(a.ref.shardId, b.ref.shardId)
  );
}

function isTopologyConstrained(shortfall: Shortfall): boolean {
  return (
    shortfall.topologyConstrained ||
    shortfall.requirements.some((requirement) => requirement.operator === Operator.SAME)
  );
}

function fingerprintOf(shortfall: Shortfall): string {
  if (shortfall.profileFingerprint !== '') return shortfall.profileFingerprint;
  return shortfall.requirements
    .map(({ key, operator, values }) => `${key}:${operator}:${values.toSorted().join(',')}`)
    .toSorted(compareText)
    .join(';');
}

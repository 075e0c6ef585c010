// The facts of one pass, derived once: who takes part, which of them dial an address together, who
// is short at which priority, and the rows that the pass may answer. Read-only; what the pass itself
// uses up is in pass-context.ts.

import { compareText } from '@bigfleet/base';
import { Operator, type Resources, type Shortfall } from '@bigfleet/wire';
import type { RowRejection, ShortfallRef } from '../moves/plan.ts';
import {
  type DialledProvider,
  dialledProviders,
  diallingConflicts,
  isFleetWide,
} from '../reports/dialled-providers.ts';
import { isFresh, type ShardPicture } from '../reports/soft-state.ts';
import type { PassInput } from './pass-context.ts';

export interface Member {
  readonly picture: ShardPicture;
  readonly isFresh: boolean;
  readonly providers: readonly DialledProvider[];
  /** Of its own rows that a pass may answer; −Infinity without one. */
  readonly highestPriority: number;
}

export interface Seat {
  readonly member: Member;
  readonly provider: DialledProvider;
}

export interface PassFleet {
  readonly members: ReadonlyMap<string, Member>;
  /** By shard id. */
  readonly seats: ReadonlyMap<string, readonly Seat[]>;
  /** By address. */
  readonly conflicted: ReadonlyMap<string, readonly string[]>;
  /** Every row of every registered shard, most urgent first. */
  readonly rows: readonly ShortfallRow[];
}

export function readFleet({ nowMs, state, settings, ...input }: PassInput): PassFleet {
  const pictures = input.pictures.filter(({ shardId }) => state.shard(shardId) !== undefined);
  const members = new Map<string, Member>();
  const rows: ShortfallRow[] = [];
  for (const picture of pictures) {
    const own = rowsOf(picture);
    rows.push(...own);
    const answerable = own.filter((row) => rowRejection(row, settings.ageCycles) === undefined);
    members.set(picture.shardId, {
      picture,
      isFresh: isFresh(picture, nowMs),
      providers: dialledProviders(picture.report),
      highestPriority: Math.max(Number.NEGATIVE_INFINITY, ...answerable.map((r) => r.ref.priority)),
    });
  }
  return {
    members,
    seats: seatsOf(members),
    conflicted: diallingConflicts(pictures),
    rows: rows.toSorted(byUrgency),
  };
}

/** Who dials what; addresses that mean something else on every host are left out. */
function seatsOf(members: ReadonlyMap<string, Member>): ReadonlyMap<string, readonly Seat[]> {
  const seats = new Map<string, Seat[]>();
  for (const member of members.values()) {
    for (const provider of member.providers) {
      if (!isFleetWide(provider.address)) continue;
      const at = seats.get(provider.address) ?? [];
      at.push({ member, provider });
      seats.set(provider.address, at);
    }
  }
  return seats;
}

export interface ShortfallRow {
  readonly picture: ShardPicture;
  readonly shortfall: Shortfall;
  readonly ref: ShortfallRef;
  /** One and the same over passes, so that "also in the previous pass" can be asked. */
  readonly key: string;
}

function rowsOf(picture: ShardPicture): readonly ShortfallRow[] {
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

/**
 * Why a pass must not answer the row. A peer that does not know our fields says the same by age and
 * requirements.
 */
export function rowRejection(row: ShortfallRow, ageGate: number): RowRejection | undefined {
  if (row.shortfall.ageCycles <= ageGate) return 'age_below_gate';
  if (isTopologyConstrained(row.shortfall)) return 'topology_constrained';
  return isEmpty(row.shortfall.deficit) ? 'no_deficit' : undefined;
}

export function isEmpty(resources: Resources | undefined): boolean {
  return resources === undefined || Object.keys(resources.resources).length === 0;
}

/** The one order in which a pass answers rows; within a shard the order of its report stays. */
function byUrgency(a: ShortfallRow, b: ShortfallRow): number {
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

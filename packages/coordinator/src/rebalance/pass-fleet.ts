// The facts of one pass, derived once: who takes part, which of them dial an address together, who
// is short at which priority. Read-only; what the pass itself uses up is in pass-budget.ts.

import { isFleetWide } from '../reports/dialled-providers.ts';
import type { ShardPicture } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-view.ts';
import {
  conflictedAddresses,
  isFresh,
  type ProviderSupply,
  supplyOf,
} from '../moves/participants.ts';
import { byUrgency, rowRejection, type ShortfallRow, rowsOf } from './shortfall-rows.ts';

export interface Member {
  readonly picture: ShardPicture;
  readonly isFresh: boolean;
  readonly providers: readonly ProviderSupply[];
  /** Of its own rows that a pass may answer; −Infinity without one. */
  readonly highestPriority: number;
}

export interface Seat {
  readonly member: Member;
  readonly provider: ProviderSupply;
}

export interface PassFleet {
  readonly members: ReadonlyMap<string, Member>;
  /** By shard id. */
  readonly seats: ReadonlyMap<string, readonly Seat[]>;
  readonly conflicted: ReadonlySet<string>;
  /** Every row of every registered shard, most urgent first. */
  readonly rows: readonly ShortfallRow[];
}

export interface FleetFacts {
  readonly nowMs: number;
  readonly pictures: readonly ShardPicture[];
  readonly state: FleetView;
  readonly ageGate: number;
}

export function readFleet(facts: FleetFacts): PassFleet {
  const pictures = facts.pictures.filter(({ shardId }) => facts.state.shard(shardId) !== undefined);
  const members = new Map<string, Member>();
  const rows: ShortfallRow[] = [];
  for (const picture of pictures) {
    const own = rowsOf(picture);
    rows.push(...own);
    const answerable = own.filter((row) => rowRejection(row, facts.ageGate) === undefined);
    members.set(picture.shardId, {
      picture,
      isFresh: isFresh(picture, facts.nowMs),
      providers: supplyOf(picture),
      highestPriority: Math.max(Number.NEGATIVE_INFINITY, ...answerable.map((r) => r.ref.priority)),
    });
  }
  return {
    members,
    seats: seatsOf(members),
    conflicted: conflictedAddresses(pictures),
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

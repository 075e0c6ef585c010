// Donors of machines for one row: shards that dial a provider of the recipient which both declare
// shared. Tiers 1 and 3 look at the same seats and differ in what they ask of them.

import { compareText } from '@bigfleet/base';
import { type Flow, flowOf } from '../moves/cooldowns.ts';
import type { DonorRejection } from '../moves/plan.ts';
import {
  type Asked,
  isEitherRecovering,
  type PassContext,
  passingRejection,
  type RejectionLog,
} from './pass-context.ts';
import type { Seat } from './pass-fleet.ts';
import { missingAttribute, onlyValue } from './selector.ts';

/** Keeps `0.1 × 70` from being eight machines. */
const ROUNDING = 1e-9;

export interface SeatSearch {
  readonly tier: 1 | 3;
  /** Why this seat has nothing for the row, beyond what excludes any donor. */
  readonly lacks: (seat: Seat) => DonorRejection | undefined;
}

export interface Seats {
  readonly open: readonly Seat[];
  readonly wasPassing: boolean;
}

export function openSeats(context: PassContext, asked: Asked, search: SeatSearch): Seats {
  const open: Seat[] = [];
  let wasPassing = false;
  for (const provider of asked.recipient.providers) {
    if (!provider.isShared) continue;
    for (const seat of context.fleet.seats.get(provider.address) ?? []) {
      if (seat.member === asked.recipient) continue;
      const flow = seatFlow(asked, seat, search.tier);
      const donorId = seat.member.picture.shardId;
      const lasting =
        seatRejection(context, asked, seat) ??
        search.lacks(seat) ??
        refusal(context, donorId, flow);
      // Asked last: it must not hide that a donor has nothing anyway, which opens the next tier.
      const reason = lasting ?? passingRejection(context, donorId, flow);
      wasPassing ||= lasting === undefined && reason !== undefined;
      if (reason === undefined) open.push(seat);
      else context.log.reject(search.tier, reason, donorId, provider.address);
    }
  }
  return { open, wasPassing };
}

/** Idle machines of other kinds must not keep the dearer tiers closed for ever. */
function refusal({ input }: PassContext, donorId: string, flow: Flow): DonorRejection | undefined {
  return input.cooldowns.hasRefused(flow, donorId, input.nowMs) ? 'donor_refused' : undefined;
}

function seatFlow(asked: Asked, seat: Seat, tier: 1 | 3): Flow {
  return flowOf({
    kind: tier === 1 ? 'machines' : 'drain',
    instanceType: onlyValue(asked.pins.types),
    zone: onlyValue(asked.pins.zones),
    from: seat.member.picture.shardId,
    to: asked.row.ref.shardId,
  });
}

function seatRejection(context: PassContext, asked: Asked, seat: Seat): DonorRejection | undefined {
  const { address } = seat.provider;
  if (context.fleet.conflicted.has(address)) return 'provider_conflicted';
  if (!seat.provider.isShared) return 'provider_not_shared';
  if (isEitherRecovering(context, asked, seat.member)) return 'owner_recovering';
  if (!seat.member.isFresh) return 'donor_stale';
  if (seat.member.highestPriority >= asked.row.ref.priority) return 'donor_short';
  return missingAttribute(asked.pins, seat.member.picture.summary);
}

/**
 * The best of several seats: the most of something, then the smallest shard id, then the smallest
 * address. A total order, so that equal pictures give equal plans on every machine.
 */
export function best(
  seats: readonly Seat[],
  worth: (seat: Seat) => number,
  log: RejectionLog,
  tier: 1 | 3,
): Seat | undefined {
  const [first, ...others] = seats.toSorted(
    (a, b) =>
      worth(b) - worth(a) ||
      compareText(a.member.picture.shardId, b.member.picture.shardId) ||
      compareText(a.provider.address, b.provider.address),
  );
  for (const { member, provider } of others) {
    log.reject(tier, 'donor_ranked_lower', member.picture.shardId, provider.address);
  }
  return first;
}

/**
 * How much a donor can spare. It keeps a margin of what is its own, at least one; what it drained
 * for the recipient is not its own and goes in full.
 */
export function spareOf(available: number, reserved: number, marginFraction: number): number {
  const promised = Math.min(reserved, Math.max(0, available));
  const own = available - promised;
  const margin = Math.max(1, Math.ceil(marginFraction * own - ROUNDING));
  return promised + Math.max(0, own - margin);
}

// Tier 3: running work of lower priority on another shard makes room. Expensive and rare: only for
// old shortfalls, only when idle machines and quota were exhausted in this pass and in the previous
// one, a few machines per pass in the whole fleet. The donor chooses the victims by its ordinary
// rules and may refuse. A drain moves no ownership: tier 1 takes what became idle.

import { ZERO_BUCKET } from '@bigfleet/base';
import type { TierRejection } from '../moves/plan.ts';
import { best, openSeats } from './donors.ts';
import type { Asked, Found, PassContext } from './pass-context.ts';
import type { Seat } from './pass-fleet.ts';
import { matchingTypeCount, missingUnits, selectorOf } from './selector.ts';

export function findDrain(context: PassContext, asked: Asked, isExhausted: boolean): Found {
  const { log, budget } = context;
  const closed = drainRejection(context, asked, isExhausted);
  if (closed !== undefined) {
    log.reject(3, closed);
    return { kind: 'none', isPassing: false };
  }
  const typeCount = (seat: Seat): number =>
    matchingTypeCount(asked.pins, seat.member.picture.summary);
  const seats = openSeats(context, asked, {
    tier: 3,
    lacks: (seat) => (typeCount(seat) > 0 ? undefined : 'no_matching_type'),
  });
  const chosen = best(seats.open, typeCount, log, 3);
  if (chosen === undefined) return { kind: 'none', isPassing: seats.wasPassing };
  const { shortfall } = asked.row;
  const count = Math.min(budget.victimsLeft, missingUnits(shortfall) ?? budget.victimsLeft);
  return {
    kind: 'move',
    move: {
      tier: 3,
      reason: 'lower_priority_work',
      shortfall: asked.row.ref,
      from: chosen.member.picture.shardId,
      to: asked.row.ref.shardId,
      providerAddress: chosen.provider.address,
      selector: selectorOf(shortfall, asked.pins, count),
      fromFree: chosen.provider.idleCount,
    },
  };
}

function drainRejection(
  { input, budget }: PassContext,
  { row }: Asked,
  isExhausted: boolean,
): TierRejection | undefined {
  if (row.shortfall.ageCycles <= input.settings.preemptAgeCycles) return 'age_below_preempt_gate';
  if (!isExhausted || !input.exhaustedBefore.has(row.key)) return 'cheaper_tiers_open';
  if (input.reservations.isOutstanding(row.ref.shardId, input.nowMs)) return 'drain_outstanding';
  // Victims need a strictly lower bucket; below Zero there is none.
  if (row.shortfall.interruptionPenaltyBucket <= ZERO_BUCKET) return 'no_lower_bucket';
  return budget.victimsLeft > 0 ? undefined : 'victims_exhausted';
}

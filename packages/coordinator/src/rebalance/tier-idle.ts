// Tier 1: idle machines of another shard behind the same provider. The cheapest answer: nothing is
// bought and nothing is interrupted. The donor keeps its margin and resolves the machines itself.

import { spareOf, openSeats, best } from './donors.ts';
import type { Asked, Found, PassContext } from './pass-context.ts';
import type { Seat } from './pass-fleet.ts';
import { selectorOf } from './selector.ts';

export function findIdle(context: PassContext, asked: Asked): Found {
  const { input, log } = context;
  const spare = ({ member, provider }: Seat): number => {
    const donor = member.picture.shardId;
    const reserved = input.reservations.reserved(donor, asked.row.ref.shardId, input.nowMs);
    return spareOf(provider.idleCount, reserved, input.settings.donorMargin);
  };
  const seats = openSeats(context, asked, {
    tier: 1,
    lacks: (seat) => (spare(seat) > 0 ? undefined : 'no_idle_above_margin'),
  });
  const chosen = best(seats.open, spare, log, 1);
  if (chosen === undefined) return { kind: 'none', isPassing: seats.wasPassing };
  const fromFree = spare(chosen);
  const count = Math.min(input.settings.maxMachines, fromFree);
  return {
    kind: 'move',
    move: {
      tier: 1,
      reason: 'idle_supply',
      shortfall: asked.row.ref,
      from: chosen.member.picture.shardId,
      to: asked.row.ref.shardId,
      providerAddress: chosen.provider.address,
      selector: selectorOf(asked.row.shortfall, asked.pins, count),
      fromFree,
    },
  };
}

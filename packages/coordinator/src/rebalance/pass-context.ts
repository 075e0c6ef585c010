// What a pass is given, and what its tiers share while they look for a donor.

import type { ShardPicture } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-view.ts';
import type { CooldownView } from '../moves/cooldowns.ts';
import type { Flow } from '../moves/flow.ts';
import type { PassBudget } from './pass-budget.ts';
import type { Member, PassFleet } from './pass-fleet.ts';
import type { Move } from '../moves/plan.ts';
import type { RejectionLog } from './rejection-log.ts';
import type { ReservationView } from '../moves/reservations.ts';
import type { Pins } from './selector.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { ShortfallRow } from './shortfall-rows.ts';

export interface PassInput {
  /** Monotonic. */
  readonly nowMs: number;
  readonly pictures: readonly ShardPicture[];
  readonly state: FleetView;
  readonly settings: RebalanceSettings;
  readonly cooldowns: CooldownView;
  readonly reservations: ReservationView;
  /** `Plan.exhausted` of the previous pass of this leadership. */
  readonly exhaustedBefore: ReadonlySet<string>;
  isRecovering(shardId: string): boolean;
  hasQueueRoom(shardId: string): boolean;
}

export interface PassContext {
  readonly input: PassInput;
  readonly fleet: PassFleet;
  readonly budget: PassBudget;
  readonly log: RejectionLog;
}

/** One row that the pass tries to answer. */
export interface Asked {
  readonly row: ShortfallRow;
  readonly recipient: Member;
  readonly pins: Pins;
}

export type Found =
  | { readonly kind: 'move'; readonly move: Move; readonly flow: Flow }
  /** Nobody has anything. `isPassing`: somebody had, and only cannot give it just now. */
  | { readonly kind: 'none'; readonly isPassing: boolean };

/** What keeps a shard from giving in this pass; it ends by itself and says nothing about supply. */
export function passingRejection(
  context: PassContext,
  donorId: string,
  flow: Flow,
): 'flow_cooling' | 'donor_busy' | 'queue_full' | undefined {
  const { input, budget } = context;
  if (budget.isUsed(flow) || input.cooldowns.isFlowCooling(flow, input.nowMs))
    return 'flow_cooling';
  if (budget.isGiving(donorId)) return 'donor_busy';
  return input.hasQueueRoom(donorId) ? undefined : 'queue_full';
}

export function isEitherRecovering({ input }: PassContext, asked: Asked, donor: Member): boolean {
  return (
    input.isRecovering(donor.picture.shardId) || input.isRecovering(asked.recipient.picture.shardId)
  );
}

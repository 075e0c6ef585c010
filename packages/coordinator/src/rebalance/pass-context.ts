// What a pass is given, what its tiers share while they look for a donor, what the pass may still
// spend, and the record of what it turned down.

import { type Cooldowns, type Flow, flowOfMove, meets } from '../moves/cooldowns.ts';
import type { Move, PassReason, Rejection } from '../moves/plan.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { ShardPicture } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-state.ts';
import type { Member, PassFleet, ShortfallRow } from './pass-fleet.ts';
import type { Pins } from './selector.ts';

/** Fleet-wide, per pass. */
const MAX_VICTIMS_PER_PASS = 5;
const MAX_KEPT = 20_000;

export interface PassInput {
  /** Monotonic. */
  readonly nowMs: number;
  readonly pictures: readonly ShardPicture[];
  readonly state: FleetView;
  readonly settings: RebalanceSettings;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
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
  | { readonly kind: 'move'; readonly move: Move }
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

/**
 * What one pass may still do, and what it has already promised: one open transfer per shard and
 * role, a number of moves, a number of victims, and no second move on a flow (coordinator §9.7).
 */
export class PassBudget {
  readonly #givers = new Set<string>();
  readonly #takers = new Set<string>();
  readonly #flows: Flow[] = [];
  movesLeft: number;
  victimsLeft: number = MAX_VICTIMS_PER_PASS;

  constructor(state: FleetView, maxMoves: number) {
    this.movesLeft = maxMoves;
    for (const transfer of state.openTransfers()) {
      this.#givers.add(transfer.from);
      this.#takers.add(transfer.to);
    }
  }

  isGiving(shardId: string): boolean {
    return this.#givers.has(shardId);
  }

  isTaking(shardId: string): boolean {
    return this.#takers.has(shardId);
  }

  isUsed(flow: Flow): boolean {
    return this.#flows.some((used) => meets(used, flow));
  }

  spend(move: Move): void {
    this.movesLeft -= 1;
    this.#flows.push(flowOfMove(move));
    this.#takers.add(move.to);
    if (move.tier === 3) this.victimsLeft -= move.selector.count;
    else this.#givers.add(move.from);
  }
}

/**
 * Rejections of one pass, recorded where they happen. At two hundred shards with a hundred rows
 * each there are millions; a plan keeps the first of them and counts the rest, so that explaining
 * never costs more than deciding.
 */
export class RejectionLog {
  #kept = 0;
  dropped = 0;
  #row: Rejection[] = [];

  reject(tier: Rejection['tier'], reason: PassReason, donor = '', provider = ''): void {
    if (this.#kept >= MAX_KEPT) {
      this.dropped += 1;
      return;
    }
    this.#kept += 1;
    this.#row.push({ tier, donor, provider, reason });
  }

  /** What was recorded since the last call. */
  takeRow(): readonly Rejection[] {
    const row = this.#row;
    this.#row = [];
    return row;
  }
}

// One pass of the rebalancer as a pure function (coordinator §9.4): pictures and ledger in, a plan
// out. Demand pulls: only a shard that reported a shortfall gets anything, never more than it lacks,
// and nothing is moved when nothing is short. The same input gives the same plan, to the last
// rejection.

import type { RowRejection, Considered, Move, Plan } from '../moves/plan.ts';
import {
  PassBudget,
  type Asked,
  type Found,
  type PassContext,
  type PassInput,
  RejectionLog,
} from './pass-context.ts';
import { readFleet, isEmpty, rowRejection, type ShortfallRow } from './pass-fleet.ts';
import { pinsOf } from './selector.ts';
import { findDrain } from './tier-drain.ts';
import { findIdle } from './tier-idle.ts';
import { findQuota } from './tier-quota.ts';

/** Finished ones wait for the shards to forget them; a shard that is gone must be removed. */
const MAX_TRANSFERS = 20_000;

export function planPass(input: PassInput): Plan {
  const { state, settings } = input;
  const context: PassContext = {
    input,
    fleet: readFleet(input),
    budget: new PassBudget(state, settings.maxMoves),
    log: new RejectionLog(),
  };
  const isLedgerFull = state.transfers().length >= MAX_TRANSFERS;
  const considered: Considered[] = [];
  const exhausted = new Set<string>();
  for (const row of context.fleet.rows) {
    const reason = isLedgerFull ? 'ledger_full' : refusal(context, row);
    if (reason !== undefined) context.log.reject(0, reason);
    const move = reason === undefined ? answer(context, row, exhausted) : undefined;
    considered.push({ shortfall: row.ref, move, rejections: context.log.takeRow() });
  }
  const moves = considered.map(({ move }) => move).filter((move): move is Move => !!move);
  return { moves, considered, droppedRejections: context.log.dropped, exhausted };
}

function refusal(context: PassContext, row: ShortfallRow): RowRejection | undefined {
  const reason = rowRejection(row, context.input.settings.ageCycles);
  if (reason !== undefined) return reason;
  if (context.fleet.members.get(row.ref.shardId)?.isFresh !== true) return 'recipient_stale';
  if (context.budget.isTaking(row.ref.shardId)) return 'recipient_busy';
  return context.budget.movesLeft > 0 ? undefined : 'moves_exhausted';
}

/** The first tier that finds something answers; the dearer ones are not asked. */
function answer(context: PassContext, row: ShortfallRow, exhausted: Set<string>): Move | undefined {
  const recipient = context.fleet.members.get(row.ref.shardId);
  if (recipient === undefined) return undefined;
  const asked: Asked = { row, recipient, pins: pinsOf(row.shortfall) };
  const idle = machinesClosed(context, asked, 1) ?? findIdle(context, asked);
  if (idle.kind === 'move') return spend(context, idle);
  const quota = findQuota(context, asked);
  if (quota.kind === 'move') return spend(context, quota);
  const isExhausted = !idle.isPassing && !quota.isPassing;
  if (isExhausted) exhausted.add(row.key);
  const drain = machinesClosed(context, asked, 3) ?? findDrain(context, asked, isExhausted);
  return drain.kind === 'move' ? spend(context, drain) : undefined;
}

/** What closes the tiers that end in a change of owner. */
function machinesClosed(context: PassContext, asked: Asked, tier: 1 | 3): Found | undefined {
  const { state, settings } = context.input;
  const closed = (reason: Parameters<RejectionLog['reject']>[1]): Found => {
    context.log.reject(tier, reason);
    return { kind: 'none', isPassing: false };
  };
  if (isEmpty(asked.row.shortfall.minUnit)) return closed('no_min_unit');
  if (state.overrideCount() >= settings.maxOverrides) return closed('override_limit');
  if (!asked.recipient.providers.some(({ isShared }) => isShared)) {
    return closed('no_shared_provider');
  }
  return undefined;
}

function spend(context: PassContext, found: Extract<Found, { kind: 'move' }>): Move {
  context.budget.spend(found.move);
  return found.move;
}

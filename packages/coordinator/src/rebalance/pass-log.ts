// The log lines of a pass (coordinator §9.9). Runbooks match on text and keys: keys may be added,
// never renamed.
// A dry run prints every decision, rejections included. A live pass prints what it emitted and, for
// every row that it would have answered and did not, one line with the reasons; rows that are too young
// to be asked for are not there yet. Lines per pass have a bound, and the rest is counted.

import type { Logger } from '@bigfleet/telemetry';
import { passReasonMeanings, type Considered, type Move, type Plan } from '../moves/plan.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { EmitResult } from '../transfers/move-emitter.ts';

const EMITTED: Readonly<Record<Move['tier'], string>> = {
  1: 'rebalance: TransferOwnership emitted',
  2: 'rebalance: ReassignSpeculative emitted',
  3: 'rebalance: CrossShardDrain emitted',
};

const MAX_UNANSWERED_LINES = 20;

export function logPlan(log: Logger, plan: Plan, settings: RebalanceSettings): void {
  const isFull = plan.considered.some(({ rejections }) =>
    rejections.some(({ reason }) => reason === 'override_limit'),
  );
  if (isFull) {
    const limit = settings.maxOverrides;
    log.error('rebalance: the limit of ownership overrides is reached', { limit });
  }
  if (settings.isDryRun) for (const considered of plan.considered) logConsidered(log, considered);
  else logUnanswered(log, plan);
}

function logUnanswered(log: Logger, { considered, droppedRejections }: Plan): void {
  const rows = considered.filter(
    ({ move, rejections }) => move === undefined && rejections[0]?.reason !== 'age_below_gate',
  );
  for (const { shortfall, rejections } of rows.slice(0, MAX_UNANSWERED_LINES)) {
    log.info('rebalance: shortfall not answered', {
      ...rowFields(shortfall),
      reasons: [...new Set(rejections.map(({ tier, reason }) => `${tier}:${reason}`))].join(','),
      donors: new Set(rejections.flatMap(({ donor }) => (donor === '' ? [] : [donor]))).size,
    });
  }
  const rowCount = rows.length - MAX_UNANSWERED_LINES;
  if (rowCount <= 0) return;
  const rest = { rows: rowCount, unrecorded_reasons: droppedRejections };
  log.info('rebalance: further shortfalls not answered', rest);
}

export function logEmitted(log: Logger, move: Move, result: EmitResult): void {
  const fields = { ...moveFields(move), reason: move.reason };
  if (result.kind === 'emitted') {
    log.info(EMITTED[move.tier], {
      ...fields,
      instruction_id: result.instructionId,
      transfer_id: result.transferId,
    });
  } else log.warn('rebalance: move refused', { ...fields, err: result.message });
}

function logConsidered(log: Logger, { shortfall, move, rejections }: Considered): void {
  const about = rowFields(shortfall);
  for (const { tier, donor, provider, reason } of rejections) {
    const why = passReasonMeanings[reason];
    log.info('rebalance dry-run: passed over', {
      ...about,
      tier,
      from: donor,
      provider,
      reason,
      why,
    });
  }
  if (move === undefined) return;
  const why = passReasonMeanings[move.reason];
  log.info('rebalance dry-run: would move', { ...moveFields(move), reason: move.reason, why });
}

function rowFields(shortfall: Considered['shortfall']): Readonly<Record<string, string | number>> {
  return {
    to: shortfall.shardId,
    fingerprint: shortfall.fingerprint,
    to_priority: shortfall.priority,
    age: shortfall.ageCycles,
  };
}

function moveFields(move: Move): Readonly<Record<string, string | number>> {
  return {
    from: move.from,
    to: move.to,
    from_free: move.fromFree,
    to_priority: move.shortfall.priority,
    tier: move.tier,
    count: move.tier === 2 ? move.count : move.selector.count,
  };
}

// The log lines of a pass (§9.9). Runbooks match on text and keys: keys may be added, never renamed.
// A dry run prints every decision, rejections included; a live pass prints what it emitted.

import type { Logger } from '@bigfleet/telemetry';
import type { EmitResult } from '../transfers/move-emitter.ts';
import { passReasonMeanings } from './pass-reasons.ts';
import type { Considered, Move, Plan } from './plan.ts';
import type { RebalanceSettings } from './settings.ts';

const EMITTED: Readonly<Record<Move['tier'], string>> = {
  1: 'rebalance: TransferOwnership emitted',
  2: 'rebalance: ReassignSpeculative emitted',
  3: 'rebalance: CrossShardDrain emitted',
};

export function logPlan(log: Logger, plan: Plan, settings: RebalanceSettings): void {
  const isFull = plan.considered.some(({ rejections }) =>
    rejections.some(({ reason }) => reason === 'override_limit'),
  );
  if (isFull) {
    const limit = settings.maxOverrides;
    log.error('rebalance: the limit of ownership overrides is reached', { limit });
  }
  if (!settings.isDryRun) return;
  for (const considered of plan.considered) logConsidered(log, considered);
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
  const about = {
    to: shortfall.shardId,
    fingerprint: shortfall.fingerprint,
    to_priority: shortfall.priority,
    age: shortfall.ageCycles,
  };
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

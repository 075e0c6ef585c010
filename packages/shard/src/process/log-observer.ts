// The log lines of cycles and actions (observability §13). `shortfalls detected` is exactly one line
// in every cycle with a shortfall, never sampled: the runbook counts on it. `action failed` is
// sampled, because one dead provider fails every action of a cycle.

import { describeThrown, type ExecuteOutcome, type Runtime } from '@bigfleet/base';
import { actionKindName } from '@bigfleet/engine';
import {
  ACTION_FAILED_PER_SECOND,
  createSampledMessage,
  type Logger,
  stableMessages,
} from '@bigfleet/telemetry';
import type { CycleReport, ShardObserver } from '../core/observer.ts';
import type { ActionOrder } from '../execute/execution.ts';
import { summariseShortfalls } from '../ledgers/shortfalls.ts';
import type { EffectiveRails } from '../rails/settings.ts';
import { incrementalMismatch, providerSlowedDown, providerUnheard } from './log-messages.ts';
import { RejectedLines } from './log-lines.ts';

/** Whatever was decided about has moved on by itself: nothing failed. */
const BENIGN: ReadonlySet<ExecuteOutcome> = new Set([
  'success',
  'stale_state',
  'inventory_miss',
  'transition_raced_to_idle',
]);

export interface LogObserverOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly epoch: bigint;
  readonly rails: () => EffectiveRails;
}

export interface LogObserver extends Partial<ShardObserver> {
  close(): void;
}

export function createLogObserver(options: LogObserverOptions): LogObserver {
  const { runtime, logger, rails, epoch } = options;
  const failed = createSampledMessage({
    runtime,
    logger,
    message: stableMessages.actionFailed,
    perSecond: ACTION_FAILED_PER_SECOND,
  });
  /**
   * What an order ran into, in turn, until its outcome is told: the question that follows a refusal
   * may fail as well, and its failure alone says nothing about what was refused.
   */
  const problems = new WeakMap<ActionOrder, string[]>();
  const problemOf = (order: ActionOrder): string | undefined => problems.get(order)?.join('; ');
  const rejected = new RejectedLines(logger);
  const refused = new Set<string>();
  const tellUnheard = createUnheardLines(logger);
  const tellMismatch = createMismatchLines(logger);
  return {
    onCycle: (report) => {
      rejected.cycled(report.refreshes);
      tellUnheard(report);
      tellMismatch(report);
      logCycle(logger, report, rails());
    },
    onRefused: (provider, error) => {
      // It is asked once a second, for a minute at most: the first line says what there is to say.
      if (refused.has(provider)) return;
      refused.add(provider);
      logReconcileFailed(logger, provider, error);
    },
    onRejectedRecord: (provider, record) => rejected.rejected(provider, record),
    onSkippedMetadata: (machine, skipped) =>
      logger.event(stableMessages.metadataDecodeFailed, {
        machine,
        err: skipped.map(({ key, problem }) => `${key}: ${problem}`).join(', '),
      }),
    onExecuted: (order, outcome) => {
      if (!BENIGN.has(outcome)) {
        failed.log({ ...subject(order), err: problemOf(order) ?? outcome });
      }
      problems.delete(order);
    },
    onWithheld: (order, by) => {
      if (by !== 'dryrun') return;
      const { reason, graceSeconds } = order;
      logger.event(stableMessages.dryRunAction, { ...subject(order), reason, grace: graceSeconds });
    },
    onFenced: (order) => {
      const err = problemOf(order) ?? 'fenced';
      logger.event(stableMessages.shardFenced, { ...subject(order), err });
      if (epoch > 1n) return;
      logger.error('the epoch is 1: was the data directory lost?', {
        hint: 'restart with --epoch-floor=<max_epoch> of the coordinator',
      });
    },
    onProblem: (order, problem) => {
      const met = problems.get(order) ?? [];
      if (!met.includes(problem)) problems.set(order, [...met, problem]);
    },
    onThrottled: (provider, slowDown) => {
      if (slowDown === undefined) return;
      const { window, pauseMs } = slowDown;
      logger.event(providerSlowedDown, { provider, window, pause_ms: Math.round(pauseMs) });
    },
    onCycleError: (error) => logger.error('cycle failed', { err: stackOf(error) }),
    close: () => failed.close(),
  };
}

/** Each provider once: the shard decides without it from here on. */
function createUnheardLines(logger: Logger): (report: CycleReport) => void {
  const told = new Set<string>();
  return ({ refreshes }) => {
    for (const [provider, refresh] of refreshes) {
      if (refresh.kind === 'refreshed' || !refresh.isUnheard || told.has(provider)) continue;
      told.add(provider);
      logger.event(providerUnheard, { provider, err: describeThrown(refresh.error) });
    }
  };
}

function createMismatchLines(logger: Logger): (report: CycleReport) => void {
  let toldCount = 0;
  return ({ cycle, answer: { mismatchCount } }) => {
    if (mismatchCount === toldCount) return;
    toldCount = mismatchCount;
    logger.event(incrementalMismatch, { cycle, mismatches: mismatchCount });
  };
}

function logReconcileFailed(logger: Logger, provider: string, error: Error): void {
  const { level, text } = stableMessages.reconcileFailed;
  logger.log(level, text, { provider, err: describeThrown(error) });
}

function logCycle(logger: Logger, report: CycleReport, rails: EffectiveRails): void {
  const { answer, disposition, refreshes } = report;
  for (const [provider, refresh] of refreshes) {
    if (refresh.kind === 'refreshed') continue;
    if (refresh.kind === 'unanswered' && !refresh.isSilent) continue;
    logReconcileFailed(logger, provider, refresh.error);
  }
  if (disposition.cappedReclaimCount > 0) {
    logger.event(stableMessages.reclaimCapEngaged, {
      deferred_reclaims: disposition.cappedReclaimCount,
      cap_fraction: rails.reclaimCapFraction,
    });
  }
  if (rails.paused && disposition.withheldCount > 0) {
    logger.event(stableMessages.actuationPaused, { suppressed: disposition.withheldCount });
  }
  if (answer.shortfalls.size > 0) logShortfalls(logger, report);
}

function logShortfalls(logger: Logger, { answer }: CycleReport): void {
  const { count, oldest, newlyEscalated } = summariseShortfalls(answer.shortfalls);
  logger.event(stableMessages.shortfallsDetected, { count, top_fingerprints: oldest });
  for (const { profile, ageCycles, reasonCode } of newlyEscalated) {
    const { fingerprint, priority } = profile;
    const fields = { fingerprint, priority, age: ageCycles, reason: reasonCode };
    logger.event(stableMessages.shortfallEscalated, fields);
  }
}

function subject({ kind, machineId, cluster }: ActionOrder): {
  kind: string;
  machine: string;
  cluster: string;
} {
  return { kind: actionKindName(kind), machine: machineId, cluster };
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

// Who is told what the core does: audit log, raw samples, metrics and hints, behind the one observer
// that the core knows.

import type { ActionKind, Clock, ExecuteOutcome, SkippedOutcome } from '@bigfleet/base';
import { actionKindName } from '@bigfleet/engine';
import type { SampleTrace } from '@bigfleet/telemetry';
import type { AuditLog } from '../audit/audit-log.ts';
import type { ShardObserver } from '../core/observer.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HintPublisher } from '../hints/hint-publisher.ts';
import { summariseShortfalls } from '../ledgers/shortfalls.ts';
import type { ActionMetrics } from '../metrics/action-metrics.ts';
import type { CycleMetrics } from '../metrics/cycle-metrics.ts';
import { type InventoryMetricsOptions, observeInventory } from '../metrics/inventory-metrics.ts';
import { createProviderMetrics, type ProviderMetricsOptions } from '../metrics/provider-metrics.ts';
import { createShortfallMetrics } from '../metrics/shortfall-metrics.ts';
import { readSupply } from './fleet-supply.ts';

/** Each gets every call, in order; one that is added later too. */
export function combineObservers(observers: readonly Partial<ShardObserver>[]): ShardObserver {
  return {
    onCycle: (...told) => observers.forEach((each) => each.onCycle?.(...told)),
    onRefused: (...told) => observers.forEach((each) => each.onRefused?.(...told)),
    onRejectedRecord: (...told) => observers.forEach((each) => each.onRejectedRecord?.(...told)),
    onSkippedMetadata: (...told) => observers.forEach((each) => each.onSkippedMetadata?.(...told)),
    onReleased: (...told) => observers.forEach((each) => each.onReleased?.(...told)),
    onExecuted: (...told) => observers.forEach((each) => each.onExecuted?.(...told)),
    onWithheld: (...told) => observers.forEach((each) => each.onWithheld?.(...told)),
    onFenced: (...told) => observers.forEach((each) => each.onFenced?.(...told)),
    onThrottled: (...told) => observers.forEach((each) => each.onThrottled?.(...told)),
    onProblem: (...told) => observers.forEach((each) => each.onProblem?.(...told)),
    onCycleError: (...told) => observers.forEach((each) => each.onCycleError?.(...told)),
  };
}

// One audit line for everything that was decided to be done: how it ended, or what held it back.

export function createAuditObserver(
  audit: AuditLog,
  cycleCount: () => number,
): Partial<ShardObserver> {
  const record = (order: ActionOrder, outcome: ExecuteOutcome | SkippedOutcome): void => {
    const { kind, machineId, cluster, reason, graceSeconds } = order;
    audit.action({
      cycle: cycleCount(),
      kind: actionKindName(kind) as ActionKind,
      machine: machineId,
      cluster,
      reason,
      graceSeconds,
      outcome,
    });
  };
  return { onExecuted: record, onWithheld: record };
}

// Raw durations of every cycle, whole and in its parts, for `--trace-samples`: a gate reads these,
// because a bucketed quantile can only say "between b and 2b". All start at the start of the cycle.
// Cycles with the engine's scheduled safety pass are in a series of their own besides: it evaluates
// everything a second time, one cycle in a hundred, and benches time it apart.

export function createSampleObserver(
  samples: SampleTrace,
  clock: Clock,
): Pick<ShardObserver, 'onCycle'> {
  const cycle = samples.series('cycle');
  const reconcile = samples.series('cycle_reconcile');
  const decide = samples.series('cycle_phases');
  const execute = samples.series('cycle_execute');
  const safety = samples.series('cycle_safety');
  return {
    onCycle: ({ answer, tookMs }) => {
      const { engine } = tookMs;
      const startMs = clock.monotonicMs() - tookMs.total;
      cycle.record(startMs, tookMs.total / 1_000);
      reconcile.record(startMs, tookMs.reconcile / 1_000);
      decide.record(startMs, (engine.phase1 + engine.phase2 + engine.phase3) / 1_000);
      execute.record(startMs, tookMs.execute / 1_000);
      if (answer.pass === 'safety') safety.record(startMs, tookMs.total / 1_000);
    },
  };
}

// Feeds the shard's series from what the core tells.

export interface MetricsObserverOptions extends ProviderMetricsOptions, InventoryMetricsOptions {
  readonly cycles: CycleMetrics;
  readonly actions: ActionMetrics;
}

export function createMetricsObserver(options: MetricsObserverOptions): Partial<ShardObserver> {
  const { registry, cycles, actions } = options;
  const providerSeries = createProviderMetrics(options);
  observeInventory(options);
  const shortfalls = createShortfallMetrics(registry);
  return {
    onCycle: (report) => {
      cycles.cycled(report);
      actions.disposed(report.disposition);
      shortfalls(summariseShortfalls(report.answer.shortfalls));
      for (const [name, refresh] of report.refreshes) providerSeries.refreshed(name, refresh);
    },
    onRejectedRecord: (_, { reason }) => providerSeries.rejected(reason),
    onThrottled: (provider) => providerSeries.throttled(provider),
    onExecuted: ({ kind }, outcome) => actions.executed(kind, outcome),
    onWithheld: ({ kind }, by) => actions.withheld(kind, by),
  };
}

// Publishes hints after a cycle, one publication at a time. A cycle that ends while one is under way
// starts none: what changed goes out with the next, because hints compare with what was last sent.

export interface HintCycleOptions {
  readonly hints: HintPublisher;
  readonly fleet: () => Fleet;
  readonly clock: Clock;
  readonly supervise: (component: string, work: Promise<void>) => void;
  readonly published: (tookMs: number) => void;
}

export function createHintCycle(options: HintCycleOptions): Partial<ShardObserver> {
  const { hints, fleet, clock, supervise, published } = options;
  let isPublishing = false;
  const publish = async (): Promise<void> => {
    const startMs = clock.monotonicMs();
    isPublishing = true;
    try {
      await hints.publish(readSupply(fleet().inventory));
    } finally {
      isPublishing = false;
    }
    published(clock.monotonicMs() - startMs);
  };
  return {
    onCycle: () => {
      if (!isPublishing) supervise('hints', publish());
    },
  };
}

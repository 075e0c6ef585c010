// What was decided and what became of it (observability §3.4, §3.5). Counted where it happens:
// `actions_total` is what passed the rails, whatever happened afterwards; a paused or dry action
// counts in its own series only.

import { type ExecuteOutcome, executeOutcomes } from '@bigfleet/base';
import { ActionKind, type ActionKindCode, actionKindName } from '@bigfleet/engine';
import type { Counter, CounterFamily, MetricRegistry } from '@bigfleet/telemetry';
import type { PoolLoad } from '../core/shard-core.ts';
import type { Disposition } from '../cycle/dispose.ts';
import { MAX_PROVIDERS, type ProviderSet } from '../provider/provider-set.ts';

const KINDS = ['Bootstrap', 'Provision', 'Reclaim', 'Preempt', 'Delete'] as const;
type KindName = (typeof KINDS)[number];
const KIND_CODES = Object.values(ActionKind);
const OUTCOMES = Object.keys(executeOutcomes) as ExecuteOutcome[];

export interface ActionMetrics {
  disposed(disposition: Disposition): void;
  executed(kind: ActionKindCode, outcome: ExecuteOutcome): void;
  withheld(kind: ActionKindCode, by: 'suppressed' | 'dryrun'): void;
  /** An idle machine went back to its provider. */
  readonly idleReleases: Counter;
}

export function createActionMetrics(registry: MetricRegistry): ActionMetrics {
  const emitted = byKind(registry, 'actions', 'Actions emitted for execution, after the rails.');
  const outcomes = registry.counter({
    name: 'bigfleet_shard_action_execute_outcomes_total',
    help: 'Finished executions by outcome; fenced means that this process is a zombie.',
    labels: { kind: KINDS, outcome: OUTCOMES },
  });
  const withheld = {
    suppressed: byKind(registry, 'actions_suppressed', 'Actions held back by the kill switch.'),
    dryrun: byKind(registry, 'actions_dryrun', 'Actions that dry run only showed.'),
  };
  const disposed = createDisposedCounters(registry);
  return {
    disposed(disposition) {
      disposed(disposition);
      for (const kind of KIND_CODES) {
        emitted.labels({ kind: kindName(kind) }).inc(disposition.emitted[kind]);
      }
    },
    executed: (kind, outcome) => outcomes.labels({ kind: kindName(kind), outcome }).inc(),
    withheld: (kind, by) => withheld[by].labels({ kind: kindName(kind) }).inc(),
    idleReleases: registry.counter({
      name: 'bigfleet_shard_idle_releases_total',
      help: 'Idle machines given back to their provider.',
    }),
  };
}

/** Read when a scrape asks. */
export function observePool(
  registry: MetricRegistry,
  pool: PoolLoad,
  providers: ProviderSet,
): void {
  const depth = registry.gauge({
    name: 'bigfleet_shard_action_queue_depth',
    help: 'Actions that wait for an executor; the cap is twice the concurrency for each provider.',
  });
  const inFlight = registry.gauge({
    name: 'bigfleet_shard_execute_inflight',
    help: 'Executions that run now.',
  });
  const window = registry.gauge({
    name: 'bigfleet_shard_provider_execute_window',
    help: 'Executions that the provider gets at a time; fewer than the concurrency: it throttles.',
    labels: { provider: { max: MAX_PROVIDERS } },
  });
  const shown = new Set<string>();
  registry.onCollect(() => {
    depth.set(pool.queuedCount);
    inFlight.set(pool.runningCount);
    for (const { name } of providers) shown.add(name);
    for (const provider of shown) {
      if (providers.get(provider) !== undefined) {
        window.labels({ provider }).set(pool.windowOf(provider));
        continue;
      }
      shown.delete(provider);
      window.remove(provider);
    }
  });
}

function createDisposedCounters(registry: MetricRegistry): (disposition: Disposition) => void {
  const counter = (name: string, help: string): Counter =>
    registry.counter({ name: `bigfleet_shard_${name}_total`, help });
  const deferred = counter('actions_deferred', 'Actions cut by the limit of actions per cycle.');
  const dropped = counter('actions_dropped', 'Actions that found the queue full.');
  const deduped = counter('actions_deduped', 'Actions already under way, or out of date.');
  const capped = counter('reclaims_capped', 'Reclaims deferred by the blast-radius cap.');
  return ({ truncatedCount, droppedCount, dedupedCount, cappedReclaimCount }) => {
    deferred.inc(truncatedCount);
    dropped.inc(droppedCount);
    deduped.inc(dedupedCount);
    capped.inc(cappedReclaimCount);
  };
}

function byKind(
  registry: MetricRegistry,
  name: string,
  help: string,
): CounterFamily<{ kind: typeof KINDS }> {
  return registry.counter({ name: `bigfleet_shard_${name}_total`, help, labels: { kind: KINDS } });
}

function kindName(kind: ActionKindCode): KindName {
  return actionKindName(kind) as KindName;
}

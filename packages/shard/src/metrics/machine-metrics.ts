// Latencies of single machines and what providers did unasked (observability §3.2, §3.8). Fed by
// every applied state change, whoever saw it first: an executor or reconcile.

import { isLegalTransition, isStateCode, State, type StateCode, stateName } from '@bigfleet/engine';
import { B16cs, B20cs, type Counter, type Gauge, type MetricRegistry } from '@bigfleet/telemetry';
import type { NodeChange } from '../fleet/node-change.ts';
import type { FirstSeen } from '../ledgers/first-seen.ts';
import {
  isTransitional,
  TRANSITIONAL,
  type TransitionClock,
  type TransitionalState,
} from '../ledgers/transition-clock.ts';

export interface MachineMetricsOptions {
  readonly registry: MetricRegistry;
  readonly nowMs: () => number;
  readonly clock: TransitionClock;
  readonly firstSeen: FirstSeen;
  readonly idleReleases: Counter;
}

/** Call with every change, after it was applied. */
export function createMachineMetrics(options: MachineMetricsOptions): (change: NodeChange) => void {
  const { registry, nowMs, clock, firstSeen } = options;
  const phase = createPhaseHistograms(registry);
  const jumps = createJumpCounters(registry);
  observeOldest(registry, clock, nowMs);
  return (change) => {
    const { machine, from, isRemoved } = change;
    const to = isRemoved ? undefined : machine.state;
    if (from === to) return;
    const atMs = nowMs();
    const sinceMs = isTransitional(from) ? clock.left(machine.id, from) : undefined;
    if (isTransitional(to)) clock.entered(machine.id, to, atMs, from !== undefined);
    if (from !== undefined && to !== undefined) {
      phase(from, to, sinceMs === undefined ? undefined : atMs - sinceMs);
      if (from === State.Deleting && to === State.Speculative) options.idleReleases.inc();
      if (!isLegalTransition(from, to)) jumps(from, to);
    }
    if (to !== State.Configured || from === undefined) return;
    const demandedMs = firstSeen.served(machine.cluster, machine.assigned.needFingerprint);
    if (demandedMs !== undefined) phase.provisioned(atMs - demandedMs);
  };
}

interface PhaseObserver {
  (from: StateCode, to: StateCode, tookMs: number | undefined): void;
  provisioned(tookMs: number): void;
}

function createPhaseHistograms(registry: MetricRegistry): PhaseObserver {
  const provisioning = registry.histogram({
    name: 'bigfleet_shard_provisioning_latency_seconds',
    help: 'From the first roll-up that names a profile to the first machine Configured for it.',
    bounds: B20cs,
  });
  const configure = registry.histogram({
    name: 'bigfleet_shard_configure_phase_seconds',
    help: 'From Configuring to Configured, successes only.',
    bounds: B16cs,
  });
  const drain = registry.histogram({
    name: 'bigfleet_shard_drain_phase_seconds',
    help: 'From Draining to Idle.',
    bounds: B16cs,
  });
  const observe = (from: StateCode, to: StateCode, tookMs: number | undefined): void => {
    if (tookMs === undefined) return;
    if (from === State.Configuring && to === State.Configured) configure.observe(tookMs / 1_000);
    if (from === State.Draining && to === State.Idle) drain.observe(tookMs / 1_000);
  };
  return Object.assign(observe, {
    provisioned: (tookMs: number): void => provisioning.observe(tookMs / 1_000),
  });
}

/** Edges that no action of ours walks: a lost host, an administrator at the provider. */
function createJumpCounters(registry: MetricRegistry): (from: StateCode, to: StateCode) => void {
  const names = Object.values(State).filter(isStateCode).map(stateName);
  const family = registry.counter({
    name: 'bigfleet_shard_out_of_band_transitions_total',
    help: 'State changes of providers that no action of this shard leads to.',
    labels: { from: names, to: names },
    initial: () => false,
  });
  return (from, to) => family.labels({ from: stateName(from), to: stateName(to) }).inc();
}

function observeOldest(
  registry: MetricRegistry,
  clock: TransitionClock,
  nowMs: () => number,
): void {
  const family = registry.gauge({
    name: 'bigfleet_shard_transition_oldest_seconds',
    help: 'Age of the machine that is longest in the state; 0 when there is none.',
    labels: { state: TRANSITIONAL.map(stateName) },
  });
  const gauges: readonly (readonly [TransitionalState, Gauge])[] = TRANSITIONAL.map((state) => [
    state,
    family.labels({ state: stateName(state) }),
  ]);
  registry.onCollect(() => {
    for (const [state, gauge] of gauges) {
      const oldest = clock.oldest(state);
      gauge.set(oldest === undefined ? 0 : (nowMs() - oldest.sinceMs) / 1_000);
    }
  });
}

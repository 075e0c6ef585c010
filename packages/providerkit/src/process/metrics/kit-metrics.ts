// What the kit tells about itself, as series (provider-contract §17.2). Without these a provider whose every
// transition fails looks healthy, because every RPC returned OK.

import { B16cs, DEF, DEF_LONG, type MetricRegistry } from '@bigfleet/telemetry';
import { capacityTypes, machineStates, operationKinds } from '../../model/machine.ts';
import type { KitObserver, ReconcileOutcome, TransitionOutcome } from '../../observer.ts';

const TRANSITION_OUTCOMES: readonly TransitionOutcome[] = [
  'success',
  'error',
  'timeout',
  'late_discarded',
  'interrupted',
];
const RECONCILE_OUTCOMES: readonly ReconcileOutcome[] = ['success', 'error', 'skipped'];
/** The classes of providers A9 and whatever an author's own error names. */
const MAX_ERROR_CLASSES = 32;

export type MeasuredEvents = Required<Omit<KitObserver, 'readyChanged'>>;

export function createKitMetrics(registry: MetricRegistry, prefix: string): MeasuredEvents {
  return {
    ...transitionSeries(registry, prefix),
    ...storeSeries(registry, prefix),
    ...inventorySeries(registry, prefix),
    ...upkeepSeries(registry, prefix),
  };
}

function transitionSeries(
  registry: MetricRegistry,
  prefix: string,
): Pick<MeasuredEvents, 'transition' | 'fenced' | 'nodeReady' | 'lateCreate'> {
  const transitions = registry.counter({
    name: `${prefix}_transitions_total`,
    help: 'Transitions that ended, by how.',
    labels: { kind: operationKinds, outcome: TRANSITION_OUTCOMES },
  });
  const durations = registry.histogram({
    name: `${prefix}_transition_duration_seconds`,
    help: 'From acceptance to the end of a transition.',
    labels: { kind: operationKinds },
    bounds: DEF_LONG,
  });
  const fenced = registry.counter({
    name: `${prefix}_fenced_total`,
    help: 'Mutations refused by their fencing token: a zombie shard.',
  });
  const nodeReady = registry.histogram({
    name: `${prefix}_node_ready_seconds`,
    help: 'From the end of the join hook to a Ready node.',
    bounds: B16cs,
  });
  const lateCreates = registry.counter({
    name: `${prefix}_late_creates_total`,
    help: 'Hosts that appeared after their Create had timed out, by what became of them.',
    labels: { teardown: ['torn_down', 'failed', 'left'] },
  });
  return {
    transition: (kind, outcome, durationMs) => {
      transitions.labels({ kind, outcome }).inc();
      durations.labels({ kind }).observe(durationMs / 1_000);
    },
    fenced: () => fenced.inc(),
    nodeReady: (waitedMs) => nodeReady.observe(waitedMs / 1_000),
    lateCreate: (teardown) => lateCreates.labels({ teardown }).inc(),
  };
}

function storeSeries(registry: MetricRegistry, prefix: string): Pick<MeasuredEvents, 'storeSave'> {
  const errors = registry.counter({
    name: `${prefix}_store_save_errors_total`,
    help: 'Changes that the durable store did not keep.',
  });
  const durations = registry.histogram({
    name: `${prefix}_store_save_duration_seconds`,
    help: 'Duration of saves that succeeded.',
    bounds: DEF,
  });
  return {
    storeSave: (outcome, durationMs) => {
      if (outcome === 'error') errors.inc();
      else durations.observe(durationMs / 1_000);
    },
  };
}

function inventorySeries(
  registry: MetricRegistry,
  prefix: string,
): Pick<MeasuredEvents, 'machineCount' | 'hostLost'> {
  const machines = registry.gauge({
    name: `${prefix}_machines`,
    help: 'Machines in the inventory.',
    labels: { state: machineStates, capacity_type: capacityTypes },
  });
  const lost = registry.counter({
    name: `${prefix}_hosts_lost_total`,
    help: 'Machines whose host disappeared.',
  });
  return {
    machineCount: (state, capacityType, count) =>
      machines.labels({ state, capacity_type: capacityType }).set(count),
    hostLost: () => lost.inc(),
  };
}

function upkeepSeries(
  registry: MetricRegistry,
  prefix: string,
): Pick<MeasuredEvents, 'reconcile' | 'failedCleanup' | 'backendError'> {
  const reconciles = registry.counter({
    name: `${prefix}_reconcile_total`,
    help: 'Looks at the substrate.',
    labels: { outcome: RECONCILE_OUTCOMES },
  });
  const cleanups = registry.counter({
    name: `${prefix}_failed_cleanups_total`,
    help: 'Clean-ups of Failed machines.',
    labels: { outcome: ['success', 'error'] },
  });
  const errors = registry.counter({
    name: `${prefix}_errors_total`,
    help: 'Errors of the backend by class.',
    labels: { class: { max: MAX_ERROR_CLASSES } },
  });
  return {
    reconcile: (outcome) => reconciles.labels({ outcome }).inc(),
    failedCleanup: (outcome) => cleanups.labels({ outcome }).inc(),
    backendError: (errorClass) => errors.labels({ class: errorClass }).inc(),
  };
}

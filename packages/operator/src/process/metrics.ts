// The series of the operator's Kubernetes half (observability §5): writes, evictions, watches, links.
// And the raw samples of the durations that gates read, beside their histograms.

import type { Clock } from '@bigfleet/base';
import type { RelistReason } from '@bigfleet/kube';
import {
  B17ms,
  type Histogram,
  type HistogramFamily,
  type LabelDeclarations,
  type MetricRegistry,
  type SampleTrace,
} from '@bigfleet/telemetry';
import type { ClusterHooks, KubeCluster } from '../cluster/kube-cluster.ts';
import type { EvictionOutcome } from '../cluster/reclaim.ts';
import type { OperatorMetrics } from '../session/metrics.ts';

const WRITES = ['create', 'spec_update', 'status_update', 'delete'] as const;
const WRITE_OUTCOMES = ['success', 'conflict', 'error', 'noop'] as const;
const EVICTIONS = ['evicted', 'gone', 'blocked_pdb', 'forbidden', 'error'] as const;
const RESOURCES = ['capacityrequests', 'upcomingnodes', 'availablecapacities', 'nodes'] as const;
const RELISTS = ['initial', 'gone', 'malformed', 'handler_error', 'periodic', 'schema'] as const;

const EVICTION_LABELS: Readonly<Record<EvictionOutcome, (typeof EVICTIONS)[number]>> = {
  evicted: 'evicted',
  gone: 'gone',
  blocked: 'blocked_pdb',
  forbidden: 'forbidden',
  error: 'error',
};

const RELIST_LABELS: Readonly<Record<RelistReason, (typeof RELISTS)[number]>> = {
  initial: 'initial',
  expired: 'gone',
  malformed: 'malformed',
  reader: 'handler_error',
  periodic: 'periodic',
  schema: 'schema',
};

type CountingHooks = Pick<ClusterHooks, 'heard' | 'relisted' | 'upcomingNodeWritten' | 'evicted'>;

/** `collect` reads what is read rather than counted, when somebody scrapes. */
export interface ClusterMetrics extends CountingHooks {
  collect(cluster: KubeCluster): void;
}

export function createClusterMetrics(registry: MetricRegistry, clock: Clock): ClusterMetrics {
  const writes = registry.counter({
    name: 'bigfleet_operator_upcoming_node_writes_total',
    help: 'Writes of UpcomingNodes; noop: none was needed.',
    labels: { op: WRITES, outcome: WRITE_OUTCOMES },
  });
  const durations = registry.histogram({
    name: 'bigfleet_operator_upcoming_node_op_duration_seconds',
    help: 'One write of an UpcomingNode, with its wait for the write budget.',
    bounds: B17ms,
    labels: { op: WRITES },
  });
  const evictions = registry.counter({
    name: 'bigfleet_operator_evictions_total',
    help: 'Evictions by what the API server answered.',
    labels: { outcome: EVICTIONS },
  });
  const lastEvent = registry.gauge({
    name: 'bigfleet_operator_informer_last_event_timestamp_seconds',
    help: 'When a watch last brought anything.',
    labels: { resource: RESOURCES },
    initial: () => false,
  });
  const relists = registry.counter({
    name: 'bigfleet_operator_informer_relists_total',
    help: 'Full lists of a collection.',
    labels: { resource: RESOURCES, reason: RELISTS },
  });
  const links = registry.gauge({
    name: 'bigfleet_operator_node_links',
    help: 'Machines whose Node is known.',
  });
  const phantoms = registry.gauge({
    name: 'bigfleet_operator_phantom_nodes',
    help: 'Machines at Ready whose Node is missing, NotReady or unschedulable for two minutes.',
  });
  return {
    upcomingNodeWritten: (op, outcome, seconds) => {
      writes.labels({ op, outcome }).inc();
      if (seconds !== undefined) durations.labels({ op }).observe(seconds);
    },
    evicted: (outcome) => evictions.labels({ outcome: EVICTION_LABELS[outcome] }).inc(),
    heard: (name) => {
      const resource = resourceOf(name);
      if (resource === undefined) return;
      lastEvent.labels({ resource }).set(Number(clock.unixNanos() / 1_000_000n) / 1_000);
    },
    relisted: (name, reason) => {
      const resource = resourceOf(name);
      if (resource === undefined) return;
      relists.labels({ resource, reason: RELIST_LABELS[reason] }).inc();
    },
    collect: (cluster) => {
      registry.onCollect(() => {
        links.set(cluster.linkCount);
        phantoms.set(cluster.phantomMachineIds().length);
      });
    },
  };
}

function resourceOf(name: string): (typeof RESOURCES)[number] | undefined {
  return RESOURCES.find((one) => one === name);
}

/** A bucketed p99 says "between b and 2b"; gates read these where they exist. */
export function tracedMetrics(
  metrics: OperatorMetrics,
  samples: Pick<SampleTrace, 'series'> | undefined,
  clock: Clock,
): OperatorMetrics {
  if (samples === undefined) return metrics;
  const traced = (histogram: Histogram, name: string): Histogram => {
    const series = samples.series(name);
    return {
      bounds: histogram.bounds,
      merge: (source, offset) => histogram.merge(source, offset),
      observe: (seconds) => {
        histogram.observe(seconds);
        series.record(clock.monotonicMs() - seconds * 1_000, seconds);
      },
    };
  };
  const tracedFamily = <L extends LabelDeclarations>(
    family: HistogramFamily<L>,
    name: string,
  ): HistogramFamily<L> => ({
    name: family.name,
    labels: (values) => traced(family.labels(values), name),
    all: () => family.all().map((histogram) => traced(histogram, name)),
    remove: (value) => family.remove(value),
    removeAll: () => family.removeAll(),
  });
  return {
    ...metrics,
    rollupDuration: traced(metrics.rollupDuration, 'rollup'),
    acknowledgeDuration: traced(metrics.acknowledgeDuration, 'acknowledge'),
    nodeStateDuration: tracedFamily(metrics.nodeStateDuration, 'node_state_update'),
  };
}

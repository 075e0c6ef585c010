// The dashboard's own series.

import { B14, type Histogram, type MetricRegistry } from '@bigfleet/telemetry';
import type { Source, ViewName } from '../api/index.ts';
import type { ModelEvent, ModelSizes } from '../model/index.ts';
import { VIEW_NAMES } from './views/view-query.ts';

const EVENT_NAMES = [
  'decision',
  'cycle',
  'cells',
  'source',
] as const satisfies ModelEvent['name'][];
const SOURCE_KINDS = ['shard', 'coordinator', 'records', 'kubernetes'] as const;
const SOURCE_STATES = [
  'live',
  'stale',
  'connecting',
  'absent',
] as const satisfies Source['state'][];
const PARTS = ['columns', 'history', 'records', 'events'] as const;

export interface DashboardMetrics {
  readonly observeView: (view: ViewName, seconds: number) => void;
  readonly event: (name: ModelEvent['name']) => void;
  readonly reset: () => void;
  readonly refusedStream: () => void;
  readonly sourceChanged: (source: Source) => void;
  /** Read when a scrape asks. */
  collect(read: {
    readonly sizes: () => ModelSizes;
    readonly streams: () => number;
    readonly ringChars: () => number;
  }): void;
}

export function createDashboardMetrics(registry: MetricRegistry): DashboardMetrics {
  const viewSeconds = registry.histogram({
    name: 'bigfleet_dashboard_view_seconds',
    help: 'Time to compute an answer, questions to a shard included.',
    labels: { view: VIEW_NAMES },
    bounds: B14,
  });
  const views = new Map<ViewName, Histogram>(
    VIEW_NAMES.map((view) => [view, viewSeconds.labels({ view })]),
  );
  const events = registry.counter({
    name: 'bigfleet_dashboard_events_total',
    help: 'Events that the model told the streams.',
    labels: { event: EVENT_NAMES },
  });
  const resets = registry.counter({
    name: 'bigfleet_dashboard_stream_resets_total',
    help: 'Streams that had missed events and began again with whole views.',
  });
  const refused = registry.counter({
    name: 'bigfleet_dashboard_streams_refused_total',
    help: 'Streams turned away because as many were open as may be.',
  });
  return {
    observeView: (view, seconds) => views.get(view)?.observe(Math.max(0, seconds)),
    event: (event) => events.labels({ event }).inc(),
    reset: () => resets.inc(),
    refusedStream: () => refused.inc(),
    sourceChanged: sourceCounts(registry),
    collect: (read) => collectSizes(registry, read),
  };
}

function collectSizes(
  registry: MetricRegistry,
  read: Parameters<DashboardMetrics['collect']>[0],
): void {
  const streams = registry.gauge({ name: 'bigfleet_dashboard_streams', help: 'Open streams.' });
  const machines = registry.gauge({
    name: 'bigfleet_dashboard_machines',
    help: 'Machines in the mirror.',
  });
  const needs = registry.gauge({ name: 'bigfleet_dashboard_needs', help: 'Needs in the mirror.' });
  const modelBytes = registry.gauge({
    name: 'bigfleet_dashboard_model_bytes',
    help: 'Memory of the mirror: machines, undo history, decision records, events kept for streams.',
    labels: { part: PARTS },
  });
  const damaged = registry.gauge({
    name: 'bigfleet_dashboard_damaged_records',
    help: 'Decision records that could not be read since the start.',
  });
  registry.onCollect(() => {
    const sizes = read.sizes();
    streams.set(read.streams());
    machines.set(sizes.machines);
    needs.set(sizes.needs);
    damaged.set(sizes.damagedRecords);
    modelBytes.labels({ part: 'columns' }).set(sizes.columnBytes);
    modelBytes.labels({ part: 'history' }).set(sizes.historyBytes);
    modelBytes.labels({ part: 'records' }).set(sizes.recordBytes);
    modelBytes.labels({ part: 'events' }).set(read.ringChars());
  });
}

/** How many sources of a kind are in which state. */
function sourceCounts(registry: MetricRegistry): (source: Source) => void {
  const family = registry.gauge({
    name: 'bigfleet_dashboard_sources',
    help: 'Sources of data by kind and state.',
    labels: { kind: SOURCE_KINDS, state: SOURCE_STATES },
  });
  /** Bound: shards that were ever registered, and a few. */
  const states = new Map<string, Source['state']>();
  return ({ kind, name, state }) => {
    const known = SOURCE_KINDS.find((each) => each === kind);
    if (known === undefined) return;
    const key = `${kind} ${name}`;
    const before = states.get(key);
    if (before !== undefined) family.labels({ kind: known, state: before }).add(-1);
    states.set(key, state);
    family.labels({ kind: known, state }).add(1);
  };
}

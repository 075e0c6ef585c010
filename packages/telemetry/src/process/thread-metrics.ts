// Event-loop lag, garbage collection and heap, per thread. The main thread writes them into the
// registry, a worker into a delta buffer of the layout below; both through the same probe, so that
// a stalled engine thread looks exactly like a stalled main thread. Names are those of the default
// Node collectors, with the label `thread`.

import type { BucketBounds } from '../metrics/buckets.ts';
import {
  bindDeltas,
  type DeltaInstruments,
  type DeltaLayout,
  type DeltaTarget,
  defineDeltas,
} from '../metrics/deltas.ts';
import type { GaugeFamily, HistogramFamily } from '../metrics/instruments.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import { GC_KINDS, type GcKind, type ThreadSource } from './source.ts';

type ThreadGauge =
  | 'lagMin'
  | 'lagMax'
  | 'lagMean'
  | 'lagStddev'
  | 'lagP50'
  | 'lagP90'
  | 'lagP99'
  | 'heapTotal'
  | 'heapUsed'
  | 'external';

type GcInstrument = `gc_${GcKind}`;

type ThreadDeclarations = Readonly<Record<ThreadGauge, { readonly type: 'gauge' }>> &
  Readonly<Record<GcInstrument, { readonly type: 'histogram'; readonly bounds: BucketBounds }>>;

export type ThreadInstruments = DeltaInstruments<ThreadDeclarations>;

/** The bounds of the default Node collector. */
const GC_BOUNDS: BucketBounds = [0.001, 0.01, 0.1, 1, 2, 5];
const GC_DELTA = { type: 'histogram', bounds: GC_BOUNDS } as const;
const GAUGE_DELTA = { type: 'gauge' } as const;

/** For `createDeltaBuffer` in a worker. */
export const threadDeltas: DeltaLayout<ThreadDeclarations> = defineDeltas({
  lagMin: GAUGE_DELTA,
  lagMax: GAUGE_DELTA,
  lagMean: GAUGE_DELTA,
  lagStddev: GAUGE_DELTA,
  lagP50: GAUGE_DELTA,
  lagP90: GAUGE_DELTA,
  lagP99: GAUGE_DELTA,
  heapTotal: GAUGE_DELTA,
  heapUsed: GAUGE_DELTA,
  external: GAUGE_DELTA,
  gc_major: GC_DELTA,
  gc_minor: GC_DELTA,
  gc_incremental: GC_DELTA,
  gc_weakcb: GC_DELTA,
  gc_other: GC_DELTA,
});

export interface ThreadMetrics<T extends string> {
  /** What the probe of this thread writes to, when the thread has the registry. */
  instruments(thread: T): ThreadInstruments;
  /** Where the main thread adds up what the probe of a worker thread shipped. */
  deltaTarget(thread: T): DeltaTarget;
}

export interface ThreadProbe {
  /** Reads lag and heap; garbage collections count themselves. */
  sample(): void;
  stop(): void;
}

export function defineThreadMetrics<const T extends string>(
  registry: MetricRegistry,
  threads: readonly T[],
): ThreadMetrics<T> {
  const gauge = (name: string, help: string): GaugeFamily<{ thread: readonly T[] }> =>
    registry.gauge({ name, help, labels: { thread: threads } });
  const lag = (suffix: string, what: string): GaugeFamily<{ thread: readonly T[] }> =>
    gauge(
      `nodejs_eventloop_lag_${suffix}_seconds`,
      `${what} event loop lag since the last scrape.`,
    );
  const gauges = {
    lagMin: lag('min', 'Least'),
    lagMax: lag('max', 'Greatest'),
    lagMean: lag('mean', 'Mean'),
    lagStddev: lag('stddev', 'Standard deviation of the'),
    lagP50: lag('p50', '50th percentile of the'),
    lagP90: lag('p90', '90th percentile of the'),
    lagP99: lag('p99', '99th percentile of the'),
    heapTotal: gauge('nodejs_heap_size_total_bytes', 'V8 heap reserved.'),
    heapUsed: gauge('nodejs_heap_size_used_bytes', 'V8 heap in use.'),
    external: gauge(
      'nodejs_external_memory_bytes',
      'Memory outside the heap held by objects in it.',
    ),
  };
  const gc = registry.histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection pauses by kind.',
    bounds: GC_BOUNDS,
    labels: { kind: GC_KINDS, thread: threads },
  });
  const instruments = (thread: T): ThreadInstruments => ({
    ...resolveGauges(gauges, thread),
    ...resolveGc(gc, thread),
  });
  return {
    instruments,
    deltaTarget: (thread) => bindDeltas(threadDeltas, instruments(thread)),
  };
}

export function startThreadProbe(
  source: ThreadSource,
  instruments: ThreadInstruments,
): ThreadProbe {
  source.onGc((kind, seconds) => instruments[gcName(kind)].observe(seconds));
  return {
    sample() {
      const lag = source.takeLoopLag();
      instruments.lagMin.set(lag.minSeconds);
      instruments.lagMax.set(lag.maxSeconds);
      instruments.lagMean.set(lag.meanSeconds);
      instruments.lagStddev.set(lag.stddevSeconds);
      instruments.lagP50.set(lag.p50Seconds);
      instruments.lagP90.set(lag.p90Seconds);
      instruments.lagP99.set(lag.p99Seconds);
      const heap = source.heap();
      instruments.heapTotal.set(heap.totalBytes);
      instruments.heapUsed.set(heap.usedBytes);
      instruments.external.set(heap.externalBytes);
    },
    stop: () => source.stop(),
  };
}

function gcName(kind: GcKind): GcInstrument {
  return `gc_${kind}`;
}

function resolveGauges<T extends string>(
  families: Readonly<Record<ThreadGauge, GaugeFamily<{ thread: readonly T[] }>>>,
  thread: T,
): Pick<ThreadInstruments, ThreadGauge> {
  const at = (name: ThreadGauge): ThreadInstruments[ThreadGauge] =>
    families[name].labels({ thread });
  return {
    lagMin: at('lagMin'),
    lagMax: at('lagMax'),
    lagMean: at('lagMean'),
    lagStddev: at('lagStddev'),
    lagP50: at('lagP50'),
    lagP90: at('lagP90'),
    lagP99: at('lagP99'),
    heapTotal: at('heapTotal'),
    heapUsed: at('heapUsed'),
    external: at('external'),
  };
}

function resolveGc<T extends string>(
  family: HistogramFamily<{ kind: typeof GC_KINDS; thread: readonly T[] }>,
  thread: T,
): Pick<ThreadInstruments, GcInstrument> {
  const at = (kind: GcKind): ThreadInstruments[GcInstrument] => family.labels({ kind, thread });
  return {
    gc_major: at('major'),
    gc_minor: at('minor'),
    gc_incremental: at('incremental'),
    gc_weakcb: at('weakcb'),
    gc_other: at('other'),
  };
}

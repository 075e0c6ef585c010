// Event-loop lag, garbage collection and heap, per thread. The main thread writes them into the
// registry, a worker into a delta buffer of the layout below; both through the same probe, so that
// a stalled engine thread looks exactly like a stalled main thread. Names are those of the default
// Node collectors, with the label `thread`.

import type { BucketBounds } from '../metrics/buckets.ts';
import {
  bindDeltas,
  type DeltaInstruments,
  type DeltaTarget,
  type DeltaTargets,
} from '../metrics/deltas.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import { GC_KINDS, type GcKind, type HeapUse, type LoopLag, type ThreadSource } from './source.ts';

type ThreadGauge = keyof LoopLag | keyof HeapUse;

type ThreadDeclarations = Readonly<Record<ThreadGauge, undefined>> &
  Readonly<Record<GcKind, BucketBounds>>;

/** The bounds of the default Node collector. */
const GC_BOUNDS: BucketBounds = [0.001, 0.01, 0.1, 1, 2, 5];

const GAUGES: Readonly<Record<ThreadGauge, readonly [name: string, help: string]>> = {
  minSeconds: lag('min', 'Least'),
  maxSeconds: lag('max', 'Greatest'),
  meanSeconds: lag('mean', 'Mean'),
  stddevSeconds: lag('stddev', 'Standard deviation of the'),
  p50Seconds: lag('p50', '50th percentile of the'),
  p90Seconds: lag('p90', '90th percentile of the'),
  p99Seconds: lag('p99', '99th percentile of the'),
  totalBytes: ['nodejs_heap_size_total_bytes', 'V8 heap reserved.'],
  usedBytes: ['nodejs_heap_size_used_bytes', 'V8 heap in use.'],
  externalBytes: ['nodejs_external_memory_bytes', 'Memory outside the heap held by objects in it.'],
};
const GAUGE_KEYS = Object.keys(GAUGES) as readonly ThreadGauge[];

function lag(suffix: string, what: string): readonly [name: string, help: string] {
  const help = `${what} event loop lag since the last scrape.`;
  return [`nodejs_eventloop_lag_${suffix}_seconds`, help];
}

/** For `createDeltaBuffer` in a worker. */
export const threadDeltas: ThreadDeclarations = byName<ThreadDeclarations>([
  ...GAUGE_KEYS.map((key) => [key, undefined] as const),
  ...GC_KINDS.map((kind) => [kind, GC_BOUNDS] as const),
]);

export interface ThreadMetrics<T extends string> {
  /** What the probe of this thread writes to, when the thread has the registry. */
  instruments(thread: T): DeltaTargets<ThreadDeclarations>;
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
  const gauges = GAUGE_KEYS.map((key) => {
    const [name, help] = GAUGES[key];
    return [key, registry.gauge({ name, help, labels: { thread: threads } })] as const;
  });
  const gc = registry.histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection pauses by kind.',
    bounds: GC_BOUNDS,
    labels: { kind: GC_KINDS, thread: threads },
  });
  const instruments = (thread: T): DeltaTargets<ThreadDeclarations> =>
    byName([
      ...gauges.map(([key, family]) => [key, family.labels({ thread })] as const),
      ...GC_KINDS.map((kind) => [kind, gc.labels({ kind, thread })] as const),
    ]);
  return {
    instruments,
    deltaTarget: (thread) => bindDeltas(threadDeltas, instruments(thread)),
  };
}

export function startThreadProbe(
  source: ThreadSource,
  instruments: DeltaInstruments<ThreadDeclarations>,
): ThreadProbe {
  source.onGc((kind, seconds) => instruments[kind].observe(seconds));
  return {
    sample() {
      const readings = { ...source.takeLoopLag(), ...source.heap() };
      for (const key of GAUGE_KEYS) instruments[key].set(readings[key]);
    },
    stop: () => source.stop(),
  };
}

/** The caller lists every name of `R`, one group after the other. */
function byName<R extends Readonly<Record<ThreadGauge | GcKind, unknown>>>(
  entries: readonly (readonly [keyof R & string, R[keyof R]])[],
): R {
  return Object.fromEntries(entries) as R;
}

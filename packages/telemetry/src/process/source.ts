// What the operating system and V8 say about this process and this thread, behind two interfaces:
// tests pass numbers, production passes Node. The lag of the event loop is what exceeds the sampling
// interval of Node's own monitor; its raw values start at that interval and would show an idle loop
// as 10 ms late.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { assert } from '@bigfleet/base';

export const GC_KINDS = ['major', 'minor', 'incremental', 'weakcb', 'other'] as const;
export type GcKind = (typeof GC_KINDS)[number];

export interface LoopLag {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  readonly meanSeconds: number;
  readonly stddevSeconds: number;
  readonly p50Seconds: number;
  readonly p90Seconds: number;
  readonly p99Seconds: number;
}

export interface HeapUse {
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly externalBytes: number;
}

/** The calling thread. */
export interface ThreadSource {
  /** Since the last call, or since the source was made. */
  takeLoopLag(): LoopLag;
  heap(): HeapUse;
  /** One listener per source. */
  onGc(listener: (kind: GcKind, seconds: number) => void): void;
  stop(): void;
}

/** The whole process. */
export interface ProcessSource {
  cpu(): { readonly userSeconds: number; readonly systemSeconds: number };
  residentBytes(): number;
  /** Undefined where the platform does not tell. */
  openFileCount(): number | undefined;
  maxFileCount(): number | undefined;
  uptimeSeconds(): number;
  /** Without the leading `v`. */
  nodeVersion(): string;
}

const LAG_RESOLUTION_MS = 10;
const NANOS_PER_SECOND = 1e9;

export function nodeThreadSource(): ThreadSource {
  const monitor = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  monitor.enable();
  let observer: PerformanceObserver | undefined;
  return {
    takeLoopLag() {
      const lag: LoopLag = {
        minSeconds: lagSeconds(monitor.count === 0 ? 0 : monitor.min),
        maxSeconds: lagSeconds(monitor.max),
        meanSeconds: lagSeconds(monitor.mean),
        stddevSeconds: monitor.count === 0 ? 0 : monitor.stddev / NANOS_PER_SECOND,
        p50Seconds: lagSeconds(monitor.percentile(50)),
        p90Seconds: lagSeconds(monitor.percentile(90)),
        p99Seconds: lagSeconds(monitor.percentile(99)),
      };
      monitor.reset();
      return lag;
    },
    heap() {
      const heap = getHeapStatistics();
      return {
        totalBytes: heap.total_heap_size,
        usedBytes: heap.used_heap_size,
        externalBytes: heap.external_memory,
      };
    },
    onGc(listener) {
      assert(observer === undefined, 'one GC listener per source');
      observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          listener(gcKind(entry), entry.duration / 1_000);
        }
      });
      observer.observe({ entryTypes: ['gc'] });
    },
    stop() {
      monitor.disable();
      observer?.disconnect();
    },
  };
}

export function nodeProcessSource(): ProcessSource {
  const maxFiles = readMaxFiles();
  return {
    cpu() {
      const { user, system } = process.cpuUsage();
      return { userSeconds: user / 1e6, systemSeconds: system / 1e6 };
    },
    residentBytes: () => process.memoryUsage.rss(),
    openFileCount,
    maxFileCount: () => maxFiles,
    uptimeSeconds: () => process.uptime(),
    nodeVersion: () => process.versions.node,
  };
}

/** Nanoseconds between two ticks of the monitor → seconds by which the second was late. */
function lagSeconds(nanos: number): number {
  if (!Number.isFinite(nanos)) return 0;
  return Math.max(0, nanos / NANOS_PER_SECOND - LAG_RESOLUTION_MS / 1_000);
}

/** The declared type of an entry lacks `detail`, where Node puts the kind. */
function gcKind(entry: object): GcKind {
  const detail = 'detail' in entry ? entry.detail : undefined;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : 0;
  if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) return 'major';
  if (kind === constants.NODE_PERFORMANCE_GC_MINOR) return 'minor';
  if (kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) return 'incremental';
  if (kind === constants.NODE_PERFORMANCE_GC_WEAKCB) return 'weakcb';
  return 'other';
}

/** Linux 6.2 tells the count as the directory's size; older kernels need the listing. */
function openFileCount(): number | undefined {
  try {
    const { size } = statSync('/proc/self/fd');
    return size > 0 ? size : readdirSync('/proc/self/fd').length;
  } catch {
    return undefined; // not Linux, or /proc is not mounted: the series stays absent
  }
}

function readMaxFiles(): number | undefined {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match === null ? undefined : Number(match[1]);
  } catch {
    return undefined; // not Linux, or /proc is not mounted: the series stays absent
  }
}

// The series that every binary exports about itself: processor, memory, files, age, version, the
// threads, and the two transport gauges of the security spec. Values that are read rather than
// counted are read when a scrape asks, so an unscraped process pays nothing.
// The transport counts as insecure until the code that owns it says otherwise.

import type { Clock } from '@bigfleet/base';
import type { Counter, Gauge } from '../metrics/instruments.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import {
  nodeProcessSource,
  nodeThreadSource,
  type ProcessSource,
  type ThreadSource,
} from './source.ts';
import { defineThreadMetrics, startThreadProbe, type ThreadMetrics } from './thread-metrics.ts';

export interface BuildInfo {
  /** Which binary: `shard`, `coordinator`, `operator`, … */
  readonly component: string;
  readonly version: string;
  /** Source revision, or `unknown`. */
  readonly revision: string;
}

export interface ProcessMetricsOptions<T extends string> {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  readonly build: BuildInfo;
  /** Worker threads of this binary besides `main`, for example `['engine', 'reconcile']`. */
  readonly workers?: readonly T[];
  readonly processSource?: ProcessSource;
  readonly threadSource?: ThreadSource;
}

export interface ProcessMetrics<T extends string> {
  /** 1 = peers are not verified. */
  readonly transportInsecure: Gauge;
  /** Unix seconds; absent until set, because 0 would read as long expired. */
  readonly certificateExpiry: Gauge;
  readonly threads: ThreadMetrics<T | 'main'>;
  stop(): void;
}

export function startProcessMetrics<const T extends string = never>(
  options: ProcessMetricsOptions<T>,
): ProcessMetrics<T> {
  const { registry } = options;
  const source = options.processSource ?? nodeProcessSource();
  defineInfo(registry, options.build, source.nodeVersion());
  defineProcess(registry, options.clock, source);
  const threads = defineThreadMetrics<T | 'main'>(registry, ['main', ...(options.workers ?? [])]);
  const probe = startThreadProbe(
    options.threadSource ?? nodeThreadSource(),
    threads.instruments('main'),
  );
  registry.onCollect(() => probe.sample());
  return { ...defineTransport(registry), threads, stop: () => probe.stop() };
}

function defineTransport(registry: MetricRegistry): {
  transportInsecure: Gauge;
  certificateExpiry: Gauge;
} {
  const transportInsecure = registry.gauge({
    name: 'bigfleet_transport_insecure',
    help: '1 while the transport is plaintext: peer identity is not verified.',
  });
  transportInsecure.set(1);
  const certificateExpiry = registry.gauge({
    name: 'bigfleet_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate in use expires; absent without TLS.',
    initial: () => false,
  });
  return { transportInsecure, certificateExpiry };
}

function defineInfo(registry: MetricRegistry, build: BuildInfo, nodeVersion: string): void {
  const { component, version, revision } = build;
  registry
    .gauge({
      name: 'bigfleet_build_info',
      help: 'Always 1; the labels say what runs.',
      labels: { component: [component], version: [version], revision: [revision] },
    })
    .labels({ component, version, revision })
    .set(1);
  const [major = '', minor = '', patch = ''] = nodeVersion.split('.');
  registry
    .gauge({
      name: 'nodejs_version_info',
      help: 'Always 1; the labels say which Node.js runs.',
      labels: { version: [`v${nodeVersion}`], major: [major], minor: [minor], patch: [patch] },
    })
    .labels({ version: `v${nodeVersion}`, major, minor, patch })
    .set(1);
}

function defineProcess(registry: MetricRegistry, clock: Clock, source: ProcessSource): void {
  const cpu = defineCpu(registry, source);
  const resident = registry.gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
  });
  const uptime = registry.gauge({
    name: 'process_uptime_seconds',
    help: 'Seconds since the process started.',
  });
  const startTime = registry.gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in Unix seconds.',
  });
  startTime.set(Number(clock.unixNanos() / 1_000_000n) / 1_000 - source.uptimeSeconds());
  const files = fileGauge(registry, 'process_open_fds', 'Open file descriptors.');
  fileGauge(registry, 'process_max_fds', 'Most file descriptors allowed.')(source.maxFileCount());
  registry.onCollect(() => {
    cpu();
    resident.set(source.residentBytes());
    uptime.set(source.uptimeSeconds());
    files(source.openFileCount());
  });
}

/** The platform tells totals; a counter takes what was added since it last asked. */
function defineCpu(registry: MetricRegistry, source: ProcessSource): () => void {
  const counter = (kind: string, help: string): Counter =>
    registry.counter({ name: `process_cpu_${kind}seconds_total`, help });
  const user = counter('user_', 'Processor time spent in the program.');
  const system = counter('system_', 'Processor time spent in the kernel.');
  const total = counter('', 'Processor time spent.');
  let last = { userSeconds: 0, systemSeconds: 0 };
  return () => {
    const now = source.cpu();
    const userAdded = Math.max(0, now.userSeconds - last.userSeconds);
    const systemAdded = Math.max(0, now.systemSeconds - last.systemSeconds);
    last = now;
    user.inc(userAdded);
    system.inc(systemAdded);
    total.inc(userAdded + systemAdded);
  };
}

function fileGauge(
  registry: MetricRegistry,
  name: string,
  help: string,
): (count: number | undefined) => void {
  const gauge = registry.gauge({ name, help, initial: () => false });
  return (count) => {
    if (count !== undefined) gauge.set(count);
  };
}

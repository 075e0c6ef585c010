// Proves that the series about the process itself carry the numbers of their source, per thread,
// and that the real source of Node gives plausible ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import { createDeltaBuffer } from '../metrics/deltas.ts';
import { createRegistry } from '../metrics/registry.ts';
import { scrapeFamilies, valuesOf } from '../metrics/testing/scrape-families.ts';
import { type ProcessMetricsOptions, startProcessMetrics } from './process-metrics.ts';
import type { GcKind, LoopLag, ProcessSource, ThreadSource } from './source.ts';
import { startThreadProbe, threadDeltas } from './thread-metrics.ts';

const build = { component: 'shard', version: '0.1.0', revision: 'abc123' };
const clock = createVirtualRuntime({ seed: 'p', drain: drainMicrotasks }).runtime.clock;

interface FakeThread extends ThreadSource {
  gc(kind: GcKind, seconds: number): void;
}

function thread(maxSeconds: number): FakeThread {
  let listener: (kind: GcKind, seconds: number) => void = () => assert.fail('no listener');
  const lag: LoopLag = {
    minSeconds: 0,
    maxSeconds,
    meanSeconds: 0.002,
    stddevSeconds: 0.001,
    p50Seconds: 0.003,
    p90Seconds: 0.004,
    p99Seconds: 0.25,
  };
  return {
    takeLoopLag: () => lag,
    heap: () => ({ totalBytes: 300, usedBytes: 200, externalBytes: 100 }),
    onGc: (added) => {
      listener = added;
    },
    stop: () => {},
    gc: (kind, seconds) => listener(kind, seconds),
  };
}

function processSource(cpuSeconds: readonly number[], files: number | undefined): ProcessSource {
  let asked = 0;
  return {
    cpu: () => ({ userSeconds: cpuSeconds[asked++] ?? 0, systemSeconds: 1 }),
    residentBytes: () => 1_000,
    openFileCount: () => files,
    maxFileCount: () => files,
    uptimeSeconds: () => 10,
    nodeVersion: () => '24.21.0',
  };
}

function options(overrides: Partial<ProcessMetricsOptions<'engine'>> = {}) {
  const registry = createRegistry();
  const sources = { processSource: processSource([2, 5], 7), threadSource: thread(0.5) };
  return { registry, clock, build, workers: ['engine'] as const, ...sources, ...overrides };
}

test('totals become counters, readings become gauges', async () => {
  const given = options();
  startProcessMetrics(given);
  await scrapeFamilies(given.registry);
  const families = await scrapeFamilies(given.registry);
  const expected: readonly [string, Record<string, number>][] = [
    ['process_cpu_user_seconds_total', { '': 5 }],
    ['process_cpu_system_seconds_total', { '': 1 }],
    ['process_cpu_seconds_total', { '': 6 }],
    ['process_resident_memory_bytes', { '': 1_000 }],
    ['process_open_fds', { '': 7 }],
    ['process_max_fds', { '': 7 }],
    ['process_uptime_seconds', { '': 10 }],
    ['process_start_time_seconds', { '': 1_767_225_590 }],
    ['bigfleet_build_info', { 'shard,0.1.0,abc123': 1 }],
    ['nodejs_version_info', { 'v24.21.0,24,21,0': 1 }],
    ['nodejs_eventloop_lag_max_seconds', { main: 0.5, engine: 0 }],
    ['nodejs_eventloop_lag_p99_seconds', { main: 0.25, engine: 0 }],
    ['nodejs_heap_size_total_bytes', { main: 300, engine: 0 }],
    ['nodejs_heap_size_used_bytes', { main: 200, engine: 0 }],
    ['nodejs_external_memory_bytes', { main: 100, engine: 0 }],
  ];
  for (const [name, values] of expected) assert.deepEqual(valuesOf(families, name), values, name);
});

test('what the platform does not tell is absent, not 0', async () => {
  const given = options({ processSource: processSource([1], undefined) });
  startProcessMetrics(given);
  const families = await scrapeFamilies(given.registry);
  assert.deepEqual(valuesOf(families, 'process_open_fds'), {});
  assert.deepEqual(valuesOf(families, 'process_max_fds'), {});
});

test('a transport is insecure until told otherwise, and an expiry absent until known', async () => {
  const given = options();
  const metrics = startProcessMetrics(given);
  const before = await scrapeFamilies(given.registry);
  assert.deepEqual(valuesOf(before, 'bigfleet_transport_insecure'), { '': 1 });
  assert.deepEqual(valuesOf(before, 'bigfleet_tls_certificate_expiry_timestamp_seconds'), {});
  metrics.transportInsecure.set(0);
  metrics.certificateExpiry.set(1_800_000_000);
  const after = await scrapeFamilies(given.registry);
  assert.deepEqual(valuesOf(after, 'bigfleet_transport_insecure'), { '': 0 });
  assert.deepEqual(valuesOf(after, 'bigfleet_tls_certificate_expiry_timestamp_seconds'), {
    '': 1_800_000_000,
  });
});

test('a worker ships the same series through deltas', async () => {
  const main = thread(0.1);
  const given = options({ threadSource: main });
  const metrics = startProcessMetrics(given);
  const worker = thread(0.9);
  const buffer = createDeltaBuffer(threadDeltas);
  const probe = startThreadProbe(worker, buffer.instruments);
  main.gc('minor', 0.002);
  worker.gc('minor', 0.02);
  worker.gc('major', 0.02);
  probe.sample();
  metrics.threads.deltaTarget('engine').applyDeltas(buffer.take());
  const families = await scrapeFamilies(given.registry);
  assert.deepEqual(valuesOf(families, 'nodejs_eventloop_lag_max_seconds'), {
    main: 0.1,
    engine: 0.9,
  });
  const counts = (families.get('nodejs_gc_duration_seconds')?.samples ?? [])
    .filter((sample) => sample.name.endsWith('_count') && sample.value > 0)
    .map((sample) => [...sample.labels.values(), sample.value].join(' '));
  assert.deepEqual(counts, ['major engine 1', 'minor main 1', 'minor engine 1']);
});

test('Node itself is a source: a scrape of the real process is plausible', async () => {
  const registry = createRegistry();
  const metrics = startProcessMetrics({ registry, clock: realRuntime().clock, build });
  try {
    const families = await scrapeFamilies(registry);
    const value = (name: string, labels = ''): number => valuesOf(families, name)[labels] ?? -1;
    assert.ok(value('process_resident_memory_bytes') > 1e6);
    assert.ok(value('nodejs_heap_size_used_bytes', 'main') > 1e5);
    assert.ok(value('process_cpu_seconds_total') > 0);
    assert.ok(value('process_start_time_seconds') > 1.7e9);
    assert.ok(value('process_open_fds') > 2);
    assert.ok(value('process_max_fds') >= value('process_open_fds'));
    assert.ok(value('nodejs_eventloop_lag_max_seconds', 'main') >= 0);
  } finally {
    metrics.stop();
  }
});

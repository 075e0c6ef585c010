// Proves the names, types and labels of every series that the contract promises (provider-contract §17.2, providers
// A10), read back from a real scrape.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  createRegistry,
  createScraper,
  parseExposition,
  type ParsedFamily,
} from '@bigfleet/telemetry';
import { createApiMetrics, createPriceMetrics } from './api-metrics.ts';
import { createKitMetrics } from './kit-metrics.ts';
import { createPanicCounter, createRpcMetrics } from './rpc-metrics.ts';

const PREFIX = 'bigfleet_sample';

/** Name without prefix, type, labels. */
const PROMISED: readonly (readonly [string, string, readonly string[]])[] = [
  ['grpc_requests_total', 'counter', ['method', 'code']],
  ['grpc_request_duration_seconds', 'histogram', ['method']],
  ['api_calls_total', 'counter', ['op', 'outcome']],
  ['api_duration_seconds', 'histogram', ['op']],
  ['panics_total', 'counter', []],
  ['reconcile_total', 'counter', ['outcome']],
  ['price_refresh_total', 'counter', ['outcome']],
  ['price_last_success_timestamp_seconds', 'gauge', []],
  ['machines', 'gauge', ['state', 'capacity_type']],
  ['transitions_total', 'counter', ['kind', 'outcome']],
  ['transition_duration_seconds', 'histogram', ['kind']],
  ['fenced_total', 'counter', []],
  ['store_save_errors_total', 'counter', []],
  ['store_save_duration_seconds', 'histogram', []],
  ['errors_total', 'counter', ['class']],
  ['node_ready_seconds', 'histogram', []],
];

async function scraped(): Promise<ReadonlyMap<string, ParsedFamily>> {
  const { clock, timers } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks }).runtime;
  const registry = createRegistry();
  const rpc = createRpcMetrics(registry, PREFIX, ['Create', 'List']);
  createPanicCounter(registry, PREFIX).inc();
  const api = createApiMetrics({
    registry,
    clock,
    prefix: `${PREFIX}_api`,
    operations: ['Launch'],
  });
  const kit = createKitMetrics(registry, PREFIX);
  const prices = createPriceMetrics(registry, PREFIX, clock);
  rpc.finished('Create', 'FAILED_PRECONDITION', 0.2);
  await api.measured('Launch', async () => {});
  await assert.rejects(api.measured('Launch', () => Promise.reject(new Error('no'))));
  prices.refreshed('success');
  kit.transition('create', 'timeout', 90_000);
  kit.machineCount('Idle', 'Spot', 7);
  kit.backendError('quota');
  kit.storeSave('error', 5);
  kit.storeSave('success', 5);
  kit.fenced();
  kit.nodeReady(1_500);
  kit.reconcile('error');
  kit.failedCleanup('success');
  kit.lateCreate('left');
  kit.hostLost();
  const scrape = createScraper({
    timers: { ...timers, turn: () => Promise.resolve() },
    registries: [registry],
  });
  const parsed = parseExposition(await scrape.scrape());
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return new Map(parsed.ok ? parsed.value.map((family) => [family.name, family]) : []);
}

test('every promised series is there under its name, type and labels', async () => {
  const families = await scraped();
  for (const [name, type, labels] of PROMISED) {
    const family = families.get(`${PREFIX}_${name}`);
    assert.ok(family !== undefined, name);
    assert.equal(family.type, type, name);
    const [sample] = family.samples;
    const found = [...(sample?.labels.keys() ?? [])].filter((label) => label !== 'le');
    assert.deepEqual(found, labels, name);
  }
});

test('values land where they belong', async () => {
  const families = await scraped();
  const value = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
    families
      .get(`${PREFIX}_${name}`)
      ?.samples.find((sample) =>
        Object.entries(labels).every(([label, text]) => sample.labels.get(label) === text),
      )?.value;
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['grpc_requests_total', { method: 'Create', code: 'FailedPrecondition' }, 1],
    ['grpc_requests_total', { method: 'List', code: 'OK' }, 0],
    ['api_calls_total', { op: 'Launch', outcome: 'success' }, 1],
    ['api_calls_total', { op: 'Launch', outcome: 'error' }, 1],
    ['transitions_total', { kind: 'create', outcome: 'timeout' }, 1],
    ['machines', { state: 'Idle', capacity_type: 'Spot' }, 7],
    ['errors_total', { class: 'quota' }, 1],
    ['store_save_errors_total', {}, 1],
    ['reconcile_total', { outcome: 'error' }, 1],
    ['price_last_success_timestamp_seconds', {}, 1_767_225_600],
  ];
  for (const [name, labels, expected] of cases) assert.equal(value(name, labels), expected, name);
});

test('a provider without declared API calls has no such series', async () => {
  const { clock } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks }).runtime;
  const registry = createRegistry();
  const api = createApiMetrics({ registry, clock, prefix: 'x_api', operations: [] });
  assert.equal(await api.measured('anything', async () => 7), 7);
  assert.equal(registry.snapshot().families.length, 0);
});

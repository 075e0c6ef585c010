// Proves what the gRPC port serves, over a real socket: the contract, the administrative service,
// health and reflection; and that a handler's bug is INTERNAL to the caller, counted as such and as
// a panic, and no end of the process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import {
  captureSink,
  type CapturedLog,
  createLogger,
  createRegistry,
  createScraper,
} from '@bigfleet/telemetry';
import {
  CapacityProvider,
  type Channel,
  createClient,
  createGrpcChannel,
  Health,
  ProviderAdmin,
  rawUnary,
  ServerReflection,
} from '@bigfleet/wire';
import type { Provider } from '../../provider.ts';
import { createGrpcEndpoint } from './grpc-endpoint.ts';
import { ReadyGate } from './ready-gate.ts';

const runtime = realRuntime();

/** Handlers with one bug each way: thrown and rejected. */
const handlers: Pick<Provider, 'handlers' | 'adminHandlers'> = {
  handlers: {
    create: () => {
      throw new TypeError('undefined is not a machine');
    },
    configure: () => Promise.reject(new RangeError('too far')),
    drain: async () => ({ operationId: 'op-1' }),
    delete: async () => ({ operationId: 'op-2' }),
    get: rawUnary(async (bytes) => bytes),
    list: rawUnary(async () => new Uint8Array()),
  },
  adminHandlers: { resetFailed: async () => ({ cleaned: true }) },
};

interface Endpoint extends AsyncDisposable {
  readonly channel: Channel;
  readonly gate: ReadyGate;
  readonly log: CapturedLog;
  metrics(): Promise<string>;
}

async function serve(reflection: boolean): Promise<Endpoint> {
  const registry = createRegistry();
  const gate = new ReadyGate();
  const log = captureSink();
  const server = createGrpcEndpoint({
    runtime,
    addr: '127.0.0.1:0',
    security: { mode: 'insecure' },
    // Only its handlers are used here.
    provider: handlers as Provider,
    health: gate.health,
    reflection,
    registry,
    metricPrefix: 'bigfleet_sample',
    logger: createLogger({ clock: runtime.clock, sink: log, level: 'debug' }),
  });
  const [target = ''] = await server.bind();
  const channel = createGrpcChannel({ runtime, target });
  const scraper = createScraper({ timers: runtime.timers, registries: [registry] });
  return {
    channel,
    gate,
    log,
    metrics: () => scraper.scrape(),
    [Symbol.asyncDispose]: async () => {
      channel.close();
      await server.stop();
    },
  };
}

test('a bug in a handler is INTERNAL, counted twice over, and the next call is served', async () => {
  await using endpoint = await serve(true);
  const client = createClient(CapacityProvider, endpoint.channel);
  await assert.rejects(client.create({ machineId: 'm' }), { code: 'INTERNAL' });
  await assert.rejects(client.configure({ machineId: 'm' }), { code: 'INTERNAL' });
  assert.equal((await client.drain({ machineId: 'm' })).operationId, 'op-1');
  const metrics = await endpoint.metrics();
  assert.match(metrics, /bigfleet_sample_panics_total 2\n/);
  assert.match(metrics, /grpc_requests_total\{method="Create",code="Internal"\} 1\n/);
  assert.match(metrics, /grpc_requests_total\{method="Drain",code="OK"\} 1\n/);
  assert.match(metrics, /grpc_request_duration_seconds_count\{method="Create"\} 1\n/);
  const log = endpoint.log.lines.join('\n');
  assert.match(log, /handler failed with a bug.*undefined is not a machine/);
  assert.match(log, /level=WARN msg=rpc method=Create code=Internal/);
  assert.match(log, /level=INFO msg=rpc method=Drain code=OK/);
});

test('admin, health and reflection answer beside the contract', async () => {
  await using endpoint = await serve(true);
  const admin = createClient(ProviderAdmin, endpoint.channel);
  assert.equal((await admin.resetFailed({ machineId: 'm' })).cleaned, true);
  const health = createClient(Health, endpoint.channel);
  assert.equal((await health.check({})).status, 2, 'not serving before it has started');
  endpoint.gate.kitChanged(true, []);
  endpoint.gate.started();
  assert.equal((await health.check({})).status, 1);
  assert.deepEqual(await reflected(endpoint.channel), [
    'bigfleet.ext.v1alpha1.ProviderAdmin',
    'bigfleet.v1alpha1.CapacityProvider',
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
  ]);
});

test('without reflection there is none, and unknown methods are UNIMPLEMENTED', async () => {
  await using endpoint = await serve(false);
  await assert.rejects(reflected(endpoint.channel), { code: 'UNIMPLEMENTED' });
  const unknown = endpoint.channel.unary(
    '/bigfleet.v1alpha1.CapacityProvider/Watch',
    new Uint8Array(),
  );
  await assert.rejects(unknown, { code: 'UNIMPLEMENTED' });
});

async function reflected(channel: Channel): Promise<readonly string[]> {
  async function* requests(): AsyncGenerator<{
    messageRequest: { case: 'listServices'; value: string };
  }> {
    yield { messageRequest: { case: 'listServices', value: '' } };
  }
  for await (const { messageResponse } of createClient(
    ServerReflection,
    channel,
  ).serverReflectionInfo(requests())) {
    assert.equal(messageResponse.case, 'listServicesResponse');
    if (messageResponse.case !== 'listServicesResponse') return [];
    return messageResponse.value.service.map(({ name }) => name).toSorted();
  }
  return [];
}

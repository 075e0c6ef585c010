// Proves the health service: unknown services, transitions seen by a watcher, slow watchers
// that end on the newest state, and no watcher left behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import {
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from '../gen/grpc/health/v1/health_pb.ts';
import { RpcError } from '../transport/status.ts';
import type { CallContext } from '../transport/transport.ts';
import { HealthRegistry } from './health.ts';

function open(registry: HealthRegistry, service: string) {
  const abort = new AbortController();
  const call: CallContext = {
    path: '/grpc.health.v1.Health/Watch',
    peer: { address: 'test', identity: { kind: 'unverified' } },
    metadata: new Map(),
    signal: abort.signal,
    setTrailer() {},
  };
  const { check, watch } = registry.handlers;
  assert.ok(typeof check === 'function' && typeof watch === 'function');
  const request = create(HealthCheckRequestSchema, { service });
  return { abort, check: () => check(request, call), watch: () => watch(request, call) };
}

type Answer = { status?: Serving };

async function statusOf(
  step: Promise<IteratorResult<Answer, unknown>>,
): Promise<Serving | undefined> {
  const { done, value } = await step;
  return done === true ? undefined : value.status;
}

test('check: the process serves from the start, an unknown service is NOT_FOUND', async () => {
  const registry = new HealthRegistry();
  assert.deepEqual(await open(registry, '').check(), { status: Serving.SERVING });
  await assert.rejects(
    open(registry, 'x').check(),
    (error) => error instanceof RpcError && error.code === 'NOT_FOUND',
  );
});

test('watch: unknown first, then every change, then the end on abort', async () => {
  const registry = new HealthRegistry();
  const { abort, watch } = open(registry, 'x');
  const stream = watch()[Symbol.asyncIterator]();
  const next = (): Promise<Serving | undefined> => statusOf(stream.next());
  assert.equal(await next(), Serving.SERVICE_UNKNOWN);
  const pending = next();
  registry.set('x', 'serving');
  assert.equal(await pending, Serving.SERVING);
  registry.set('x', 'serving');
  registry.set('x', 'not-serving');
  assert.equal(await next(), Serving.NOT_SERVING);
  const last = stream.next();
  abort.abort();
  assert.equal((await last).done, true);
});

test('a slow watcher skips what it missed and ends on the newest', async () => {
  const registry = new HealthRegistry();
  const stream = open(registry, '').watch()[Symbol.asyncIterator]();
  assert.equal(await statusOf(stream.next()), Serving.SERVING);
  registry.setAll('not-serving');
  registry.setAll('serving');
  registry.setAll('not-serving');
  assert.equal(await statusOf(stream.next()), Serving.NOT_SERVING);
});

test('at most 1,000 watches; a closed one frees its place', async () => {
  const registry = new HealthRegistry();
  const streams = Array.from({ length: 1_000 }, () =>
    open(registry, '').watch()[Symbol.asyncIterator](),
  );
  for (const stream of streams) await stream.next();
  const extra = () => open(registry, '').watch()[Symbol.asyncIterator]().next();
  await assert.rejects(
    extra(),
    (error) => error instanceof RpcError && error.code === 'RESOURCE_EXHAUSTED',
  );
  await streams[0]?.return?.();
  assert.equal(await statusOf(extra()), Serving.SERVING);
});

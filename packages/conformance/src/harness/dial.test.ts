// Proves on a loopback gRPC server that an endpoint carries tokens, maps and statuses without loss,
// receives messages far beyond the library's default, connects on its own, sends each call once,
// and throws only when the run is cancelled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import {
  CapacityProvider,
  type ConfigureRequest,
  createGrpcServer,
  type GrpcServer,
  type Handlers,
  MachineState,
  openGate,
  Router,
  RpcError,
  fromMap,
  toMap,
} from '@bigfleet/wire';
import { dialEndpoint } from './dial.ts';
import type { Endpoint } from './endpoint.ts';

const INT64_MAX = 2n ** 63n - 1n;

interface Loopback {
  readonly target: string;
  readonly server: GrpcServer;
  dial(signal?: AbortSignal): Endpoint;
}

async function serve(changes: Partial<Handlers<typeof CapacityProvider>>): Promise<Loopback> {
  const runtime = realRuntime();
  const unwritten = async (): Promise<never> => {
    throw new RpcError('UNIMPLEMENTED', 'not in this test');
  };
  const handlers: Handlers<typeof CapacityProvider> = {
    create: unwritten,
    configure: unwritten,
    drain: unwritten,
    delete: unwritten,
    get: unwritten,
    list: unwritten,
    ...changes,
  };
  const router = new Router({ gate: openGate }).add(CapacityProvider, handlers);
  const server = createGrpcServer({ runtime, router, listen: ['127.0.0.1:0'], stopGraceMs: 100 });
  const [target = ''] = await server.bind();
  return {
    target,
    server,
    dial: (signal = new AbortController().signal) => dialEndpoint({ runtime, target, signal }),
  };
}

test('tokens, hostile maps and snapshots survive both ways', async (t) => {
  let received: ConfigureRequest | undefined;
  const { server, dial } = await serve({
    configure: async (request) => {
      received = request;
      return {
        operationId: 'op-1',
        machine: {
          id: request.machineId,
          state: MachineState.CONFIGURING,
          host: {},
          cluster: request.clusterId,
          shardMetadata: fromMap(toMap(request.shardMetadata)),
        },
      };
    },
    drain: async (request) => ({ operationId: `${request.gracePeriodSeconds}` }),
    delete: async (request) => ({ operationId: `${request.shardId}:${request.sequenceNumber}` }),
  });
  const endpoint = dial();
  t.after(async () => {
    endpoint.close();
    await server.stop();
  });
  const metadata = new Map([
    ['__proto__', 'kept'],
    ['nul\u0000', '\u0000'],
    ['constructor', ''],
  ]);
  const token = { shardId: 's', shardEpoch: INT64_MAX, sequenceNumber: INT64_MAX - 1n };
  const answer = await endpoint.configure({ machineId: 'm', clusterId: 'c', metadata, token });
  assert.equal(received?.shardEpoch, INT64_MAX);
  assert.equal(received?.sequenceNumber, INT64_MAX - 1n);
  assert.ok(answer.ok);
  assert.deepEqual(answer.value.machine?.metadata, metadata);
  assert.equal(answer.value.machine?.state, 'CONFIGURING');
  assert.equal(answer.value.machine?.host, undefined, 'an empty host is no host');
  const drained = await endpoint.drain({ machineId: 'm', graceSeconds: -5n });
  assert.deepEqual(drained, { ok: true, value: { operationId: '-5', machine: undefined } });
  const deleted = await endpoint.delete({ machineId: 'm' });
  assert.deepEqual(deleted, { ok: true, value: { operationId: ':0', machine: undefined } });
});

test('statuses are answers, an unknown state number is told, a large list arrives', async (t) => {
  const blob = 'x'.repeat(1024 * 1024);
  const { server, dial } = await serve({
    get: async ({ id }) => {
      if (id === 'odd') return { id, state: 77 as MachineState, capacityType: 99 as never };
      throw new RpcError('NOT_FOUND', `no machine ${id}`);
    },
    list: async ({ states, maxResults, sinceRevision }) => ({
      machines: Array.from({ length: 6 }, (_, at) => ({
        id: `${states.join('+')}/${maxResults}/${at}`,
        labels: { blob },
      })),
      revision: sinceRevision,
    }),
  });
  const endpoint = dial();
  t.after(async () => {
    endpoint.close();
    await server.stop();
  });
  const missing = await endpoint.get('ghost');
  assert.deepEqual(missing, { ok: false, code: 'NOT_FOUND', message: 'no machine ghost' });
  const odd = await endpoint.get('odd');
  assert.equal(odd.ok && odd.value.state, 'UNRECOGNISED');
  assert.equal(odd.ok && odd.value.capacityType, 'UNRECOGNISED');
  const since = Uint8Array.of(0, 255);
  const list = await endpoint.list({ states: ['IDLE', 'FAILED'], maxResults: 3, since });
  assert.ok(list.ok, 'six MiB are above the library default of four');
  assert.equal(list.value.machines[5]?.id, '3+8/3/5');
  assert.deepEqual([...list.value.revision], [0, 255]);
});

test('each endpoint is a connection of its own, and nothing is sent twice', async (t) => {
  let calls = 0;
  const { server, dial } = await serve({
    create: async () => {
      calls++;
      throw new RpcError('UNAVAILABLE', 'a library that retries would retry this');
    },
  });
  const endpoints = [dial(), dial()];
  t.after(async () => {
    for (const endpoint of endpoints) endpoint.close();
    await server.stop();
  });
  for (const endpoint of endpoints) {
    const answer = await endpoint.create({ machineId: 'm' });
    assert.equal(!answer.ok && answer.code, 'UNAVAILABLE');
  }
  assert.equal(calls, 2);
  assert.equal(server.connectionCount, 2);
});

test('a cancelled run throws its reason; an unreachable target answers', async (t) => {
  const { server, dial } = await serve({
    get: (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new RpcError('CANCELLED', 'gone')));
      }),
  });
  const controller = new AbortController();
  const endpoint = dial(controller.signal);
  const stopped = new Error('the run was stopped');
  const waiting = endpoint.get('m');
  controller.abort(stopped);
  await assert.rejects(waiting, stopped);
  await assert.rejects(endpoint.get('m'), stopped);
  const other = dial();
  t.after(() => other.close());
  endpoint.close();
  await server.stop();
  const answer = await other.get('m');
  assert.equal(!answer.ok && answer.code, 'UNAVAILABLE');
});

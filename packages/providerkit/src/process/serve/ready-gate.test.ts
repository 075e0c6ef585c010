// Proves that gRPC health and /readyz agree at every step of a process's life.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallContext, noMetadata } from '@bigfleet/wire';
import { ReadyGate } from './ready-gate.ts';

const SERVING = 1;
const NOT_SERVING = 2;

const call: CallContext = {
  path: '/grpc.health.v1.Health/Check',
  peer: { address: 'test', identity: { kind: 'unverified' } },
  metadata: noMetadata,
  signal: new AbortController().signal,
  setTrailer: () => {},
};

async function answers(gate: ReadyGate): Promise<readonly [number, string]> {
  const { check } = gate.health.handlers;
  assert.ok(typeof check === 'function');
  const { status } = await check(
    { $typeName: 'grpc.health.v1.HealthCheckRequest', service: '' },
    call,
  );
  const state = gate.readiness.state();
  return [status ?? 0, state.ready ? 'ready' : state.reason];
}

test('not ready, ready, taken back, ready again, stopping for good', async () => {
  const gate = new ReadyGate();
  assert.deepEqual(await answers(gate), [NOT_SERVING, 'not ready']);
  gate.kitChanged(true, []);
  assert.deepEqual(await answers(gate), [NOT_SERVING, 'not ready'], 'the process is not up yet');
  gate.started();
  assert.deepEqual(await answers(gate), [SERVING, 'ready']);
  gate.kitChanged(false, ['store', 'auth']);
  assert.deepEqual(await answers(gate), [NOT_SERVING, 'not ready: store, auth']);
  gate.kitChanged(true, []);
  assert.deepEqual(await answers(gate), [SERVING, 'ready']);
  gate.stopping();
  assert.deepEqual(await answers(gate), [NOT_SERVING, 'shutting down']);
  gate.kitChanged(true, []);
  assert.deepEqual(await answers(gate), [NOT_SERVING, 'shutting down']);
});

// Proves a stop that loses nothing (provider-contract §17.3): mutations are refused, work finishes within
// the grace, the rest is left for the next start instead of failing, store and backend are closed
// last, and reads are served all along.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { World } from './world.ts';

test('work that fits the grace finishes, mutations are refused, reads go on', async () => {
  const world = await new World({ delayMs: 5_000 }).start();
  await world.settle(world.client.create({ machineId: 'm-0' }));
  await world.run(100);
  const stopping = world.provider.shutdown(10_000);
  await world.run(1);
  assert.equal(world.provider.ready, false);
  assert.deepEqual(world.provider.notReadyReasons, ['stopping']);
  assert.equal(await world.codeOf(world.client.create({ machineId: 'm-1' })), 'UNAVAILABLE');
  assert.equal((await world.get('m-0')).state, MachineState.CREATING);
  assert.equal(world.store.isClosed, false);
  const report = await world.settle(stopping);
  assert.deepEqual(report, { finishedCount: 1, interruptedCount: 0 });
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
  assert.ok(world.time.nowMs < 6_000, 'no longer than the work took');
  assert.equal(world.store.isClosed && world.backend.isClosed, true);
});

test('work beyond the grace is cancelled but not failed, and the next start drives it again', async () => {
  const world = await new World({ delayMs: 60_000 }).start();
  const { operationId } = await world.settle(world.client.create({ machineId: 'm-0' }));
  await world.run(100);
  const report = await world.settle(world.provider.shutdown(1_000));
  assert.deepEqual(report, { finishedCount: 0, interruptedCount: 1 });
  const signal = world.backend.calls.at(-1)?.signal;
  assert.equal(signal?.aborted, true);
  const image = await world.memory.load();
  assert.equal(image?.machines.find(({ id }) => id === 'm-0')?.state, 'Creating');
  world.crash();
  world.backend.delayMs = 10;
  await world.start();
  await world.run(1_000);
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
  assert.equal(world.backend.calls.at(-1)?.operationId, operationId);
});

test('an accept that is being committed is acknowledged and its work waited for', async () => {
  const world = await new World().start();
  world.store.before = () => sleep(world.time.runtime, 200);
  const call = world.client.create({ machineId: 'm-0' });
  await world.run(1);
  const stopping = world.provider.shutdown(5_000);
  const ack = await world.settle(call);
  assert.equal(ack.machine?.state, MachineState.CREATING);
  const report = await world.settle(stopping);
  assert.deepEqual(report, { finishedCount: 1, interruptedCount: 0 });
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
});

test('after the stop nothing is armed or written any more', async () => {
  const world = await new World().start();
  await world.toIdle('m-0');
  await world.settle(world.provider.shutdown(0));
  world.store.isFull = true;
  await world.settle(world.provider.reportHostLost('m-0', 'gone'));
  assert.equal((await world.settle(world.provider.reconcile())).outcome, 'error');
  assert.equal(await world.codeOf(world.admin.resetFailed({ machineId: 'm-0' })), 'UNAVAILABLE');
  assert.equal(world.time.pendingTimers, 0);
});

test('a store that hangs delays the stop by its bounds, never for ever', async () => {
  const world = await new World().start();
  world.store.before = () => new Promise(() => {});
  const call = world.client.create({ machineId: 'm-0' });
  call.catch(() => undefined);
  await world.run(1);
  await world.settle(world.provider.shutdown(1_000));
  assert.ok(world.time.nowMs <= 1_001 + 5_000);
  assert.equal(world.store.isClosed, true);
});

test('a second call joins the first', async () => {
  const world = await new World().start();
  const first = world.provider.shutdown(1_000);
  assert.equal(world.provider.shutdown(0), first);
  await world.settle(first);
});

test('nothing is left running: no timer, no loop', async () => {
  const world = await new World({ options: { reconcileIntervalMs: 60_000 } }).start();
  world.backend.script = ({ name }) =>
    name === 'create' ? Promise.reject(new Error('broken')) : undefined;
  await world.settle(world.client.create({ machineId: 'm-0' }));
  await world.run(100);
  assert.ok(world.time.pendingTimers > 0, 'reconcile and cleanup wait');
  await world.settle(world.provider.shutdown(1_000));
  assert.equal(world.time.pendingTimers, 0);
});

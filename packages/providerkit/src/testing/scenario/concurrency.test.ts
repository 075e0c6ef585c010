// Proves that parallel calls on one machine collapse into one operation, conflicting ones
// serialise, other machines never wait, and a flood of invented ids is bounded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState, RpcError } from '@bigfleet/wire';
import { binding, slot, World } from './world.ts';

test('sixteen parallel calls of one kind get one id and start one work item', async () => {
  const world = await new World().start();
  world.store.before = () => sleep(world.time.runtime, 7);
  const burst = async (send: () => Promise<{ operationId: string }>): Promise<void> => {
    const acks = await world.settle(Promise.all(Array.from({ length: 16 }, send)));
    assert.equal(new Set(acks.map(({ operationId }) => operationId)).size, 1);
    await world.run(1_000);
  };
  await burst(() => world.client.create({ machineId: 'm-0' }));
  await burst(() => world.client.configure(binding('m-0')));
  await burst(() => world.client.drain({ machineId: 'm-0' }));
  await burst(() => world.client.delete({ machineId: 'm-0' }));
  assert.deepEqual(
    world.backend.calls.map(({ name }) => name),
    ['describe', 'create', 'configure', 'ready', 'drain', 'delete'],
  );
});

test('configure and delete race for an Idle machine: one wins, the other is rejected', async () => {
  const world = await new World().start();
  await world.toIdle('m-0');
  world.store.before = () => sleep(world.time.runtime, 7);
  const codes = await Promise.all([
    statusOf(world.client.configure(binding('m-0'))),
    statusOf(world.client.delete({ machineId: 'm-0' })),
    world.run(100).then(() => 'ran'),
  ]);
  assert.deepEqual(codes, ['OK', 'INTERNAL', 'ran']);
  assert.equal((await world.get('m-0')).state, MachineState.CONFIGURED);
});

test('a slow commit of one machine does not delay the check of another', async () => {
  const world = await new World().start();
  world.store.before = () => sleep(world.time.runtime, 1_000);
  const slow = world.client.create({ machineId: 'm-0' });
  await world.run(1);
  assert.equal(await statusOf(world.client.configure(binding('m-1'))), 'INTERNAL');
  await world.settle(slow);
});

test('parallel creates of many machines get distinct ids', async () => {
  const slots = Array.from({ length: 64 }, (_, i) => slot(`m-${i}`));
  const world = await new World({ slots }).start();
  const acks = await world.settle(
    Promise.all(slots.map(({ id }) => world.client.create({ machineId: id }))),
  );
  assert.equal(new Set(acks.map(({ operationId }) => operationId)).size, 64);
  await world.run(100);
  const { machines } = await world.settle(world.client.list({ states: [MachineState.IDLE] }));
  assert.equal(machines.length, 64);
});

async function statusOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'OK',
    (error: unknown) => (error instanceof RpcError ? error.code : String(error)),
  );
}

// Proves the life of a machine through the six calls: every edge, its ack, its background work, its
// binding, and that reads show one consistent record at every moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { binding, World } from './world.ts';

test('a wall clock that jumps changes no timeout and repeats no id', async () => {
  const world = await new World({ options: { timeouts: { create: 5_000 } } }).start();
  world.backend.script = ({ name }) => (name === 'create' ? new Promise(() => {}) : undefined);
  const ids = new Set<string>();
  for (const jumpMs of [-86_400_000, 4 * 86_400_000, -60 * 365 * 86_400_000]) {
    const { operationId } = await world.settle(world.client.create({ machineId: 'm-0' }));
    assert.ok(!ids.has(operationId));
    ids.add(operationId);
    await world.run(1_000);
    world.time.wallJump(jumpMs);
    await world.run(3_900);
    assert.equal((await world.get('m-0')).state, MachineState.CREATING);
    await world.run(100);
    assert.equal((await world.get('m-0')).state, MachineState.FAILED);
    await world.settle(world.provider.resetFailed('m-0'));
  }
});

test('create, configure, drain and delete walk the four edges', async () => {
  const world = await new World().start();
  const { client } = world;
  const created = await world.settle(client.create({ machineId: 'm-0' }));
  assert.equal(created.machine?.state, MachineState.CREATING);
  assert.equal(created.machine?.host, undefined);
  assert.match(created.operationId, /^op-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  await world.run(100);
  const idle = await world.get('m-0');
  assert.equal(idle.state, MachineState.IDLE);
  assert.equal(idle.host?.provider, 'test-1');

  const bound = await world.settle(client.configure(binding('m-0')));
  assert.equal(bound.machine?.state, MachineState.CONFIGURING);
  assert.equal(bound.machine?.cluster, 'a');
  assert.deepEqual(bound.machine?.shardMetadata, { 'k/1': 'v1', 'k/2': '' });
  await world.run(100);
  const configured = await world.get('m-0');
  assert.equal(configured.state, MachineState.CONFIGURED);
  assert.deepEqual(configured.shardMetadata, { 'k/1': 'v1', 'k/2': '' });

  const draining = await world.settle(client.drain({ machineId: 'm-0', gracePeriodSeconds: 5n }));
  assert.equal(draining.machine?.state, MachineState.DRAINING);
  assert.equal(draining.machine?.cluster, 'a');
  await world.run(100);
  const drained = await world.get('m-0');
  assert.equal(drained.state, MachineState.IDLE);
  assert.equal(drained.cluster, '');
  assert.deepEqual(drained.shardMetadata, {});

  const deleting = await world.settle(client.delete({ machineId: 'm-0' }));
  assert.equal(deleting.machine?.state, MachineState.DELETING);
  assert.notEqual(deleting.machine?.host, undefined);
  await world.run(100);
  const slotAgain = await world.get('m-0');
  assert.equal(slotAgain.state, MachineState.SPECULATIVE);
  assert.equal(slotAgain.host, undefined);
  assert.deepEqual(
    world.backend.calls.map(({ name }) => name),
    ['describe', 'create', 'configure', 'ready', 'drain', 'delete'],
  );
});

// Proves the start over a used store (provider-contract §13): everything acknowledged is there, interrupted
// transitions end, offerings that were added meanwhile are in the first List, and a failing
// describe does not stop a start that has records to serve.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { trustJoinHook } from '../../backend/readiness.ts';
import type { OperationKind } from '../../model/machine.ts';
import { binding, slot, World } from './world.ts';

test('records, bindings, metadata and operation ids survive', async () => {
  const world = await new World().start();
  await world.toConfigured('m-0');
  const { operationId } = await world.settle(world.client.configure(binding('m-0')));
  const before = await world.settle(world.client.list({}));
  world.crash();
  await world.start();
  const after = await world.settle(world.client.list({}));
  assert.deepEqual(byId(after.machines), byId(before.machines));
  assert.deepEqual(after.revision, before.revision, 'a restart that changes nothing bumps nothing');
  const again = await world.settle(world.client.configure(binding('m-0')));
  assert.equal(again.operationId, operationId);
});

test('operation ids of a new process never repeat old ones', async () => {
  const world = await new World().start();
  const ids = new Set<string>();
  for (let i = 0; i < 4; i++) {
    const { operationId } = await world.settle(world.client.create({ machineId: 'm-0' }));
    await world.run(1_000);
    const deletion = await world.settle(world.client.delete({ machineId: 'm-0' }));
    await world.run(1_000);
    assert.ok(!ids.has(operationId) && !ids.has(deletion.operationId));
    ids.add(operationId).add(deletion.operationId);
    world.crash();
    await world.start();
  }
  assert.equal(ids.size, 8);
});

const redriven: readonly { kind: Exclude<OperationKind, 'configure'>; target: number }[] = [
  { kind: 'create', target: MachineState.IDLE },
  { kind: 'drain', target: MachineState.IDLE },
  { kind: 'delete', target: MachineState.SPECULATIVE },
];

for (const { kind, target } of redriven) {
  test(`an interrupted ${kind} is driven again with the same operation id`, async () => {
    const { world, operationId } = await interruptedBy(kind);
    await world.start();
    await world.run(1_000);
    const calls = world.backend.calls.filter(({ name }) => name === kind);
    assert.deepEqual(
      calls.map((call) => call.operationId),
      [operationId, operationId],
    );
    if (kind === 'drain') assert.equal(calls[1]?.gracePeriodSeconds, 3);
    assert.equal((await world.get('m-0')).state, target);
  });

  test(`an interrupted ${kind} fails where the backend can't repeat it`, async () => {
    const { world } = await interruptedBy(kind);
    world.backend.redrive = false;
    await world.start();
    const machine = await world.get('m-0');
    assert.equal(machine.state, MachineState.FAILED);
    assert.equal(machine.lastError, `${kind}: interrupted by a provider restart`);
    assert.equal(world.backend.countOf(kind), 1);
  });
}

test('an interrupted delete fails where the new process can no longer delete', async () => {
  const { world } = await interruptedBy('delete');
  delete world.backend.deleteInstance;
  await world.start();
  await world.run(1_000);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.FAILED);
  assert.equal(machine.lastError, 'delete: [config/unsupported] the backend no longer deletes');
});

test('an interrupted configure becomes Configured when the node is Ready', async () => {
  const { world } = await interruptedBy('configure');
  await world.start();
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.CONFIGURED);
  assert.equal(machine.cluster, 'a');
  assert.equal(world.backend.countOf('configure'), 1);
});

test('an interrupted configure fails when the node is not Ready within one look', async () => {
  const { world, operationId } = await interruptedBy('configure');
  world.backend.script = ({ name }) => (name === 'ready' ? new Promise(() => {}) : undefined);
  await world.start();
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.FAILED);
  assert.equal(machine.lastError, 'configure: interrupted by a provider restart');
  assert.equal(machine.cluster, 'a');
  assert.equal(world.time.nowMs < 20_000, true);
  const look = world.backend.calls.findLast(({ name }) => name === 'ready');
  assert.equal(look?.operationId, operationId);
});

test('a source that only trusts the join hook never confirms an interrupted configure', async () => {
  const confirmed = await trustJoinHook.isNodeReady?.({} as never);
  assert.equal(confirmed, false);
});

test('a redeploy with more offerings shows them in the first List', async () => {
  const world = await new World().start();
  world.crash();
  world.backend.instances.set('m-2', slot('m-2'));
  await world.start();
  const { machines } = await world.settle(world.client.list({}));
  assert.deepEqual(
    byId(machines).map(({ id }) => id),
    ['m-0', 'm-1', 'm-2'],
  );
});

test('a failing describe does not stop a start over stored records', async () => {
  const outcomes: string[] = [];
  const observer = { reconcile: (outcome: string) => void outcomes.push(outcome) };
  const world = await new World({ observer }).start();
  world.crash();
  world.backend.script = () => new Promise(() => {});
  await world.start();
  assert.equal(world.provider.ready, true);
  assert.deepEqual(outcomes, ['error']);
  assert.equal((await world.settle(world.client.list({}))).machines.length, 2);
});

test('a first start needs a describe, and refuses an invalid or double machine', async () => {
  const failing = new World();
  failing.backend.script = () => Promise.reject(new Error('no route'));
  await assert.rejects(failing.start(), { code: 'describe_failed' });
  assert.equal(failing.store.isClosed, true);
  assert.equal(failing.backend.isClosed, true);

  const invalid = new World({ slots: [slot('m-0'), slot('m-1', { pricePerHour: Number.NaN })] });
  await assert.rejects(invalid.start(), (error) => {
    assert.ok(error instanceof BigFleetError);
    assert.equal(error.code, 'instance_invalid');
    assert.match(error.message, /^machine "m-1": price_per_hour/);
    return true;
  });

  const double = new World();
  double.backend.describe = async () => [slot('m-0'), slot('m-0')];
  await assert.rejects(double.start(), /the id is listed twice/);
});

test('an unreadable store is a start that fails, never an empty one', async () => {
  const world = new World();
  world.store.load = () => Promise.reject(new BigFleetError('store_corrupt', 'bad checksum'));
  await assert.rejects(world.start(), { code: 'store_corrupt' });
  assert.equal(world.backend.countOf('describe'), 0);
});

test('records without proper revisions are numbered anew, above every cursor', async () => {
  const world = await new World().start();
  const { revision } = await world.settle(world.client.list({}));
  world.crash();
  const image = await world.memory.load();
  const flat = (image?.machines ?? []).map((record) => ({ ...record, modifiedRevision: 1 }));
  await world.memory.commit(flat.map((record) => ({ kind: 'machine', record })));
  await world.start();
  const delta = await world.settle(world.client.list({ sinceRevision: revision }));
  assert.equal(delta.machines.length, 2);
  const quiet = await world.settle(world.client.list({ sinceRevision: delta.revision }));
  assert.equal(quiet.machines.length, 0);
});

async function interruptedBy(
  kind: OperationKind,
): Promise<{ readonly world: World; readonly operationId: string }> {
  const world = await new World({ options: { failedCleanupAfterMs: 0 } }).start();
  if (kind === 'drain') await world.toConfigured('m-0');
  else if (kind !== 'create') await world.toIdle('m-0');
  world.backend.script = ({ name }) => (name === kind ? new Promise(() => {}) : undefined);
  const operationId = await world.settle(accept(world, kind));
  await world.run(10);
  world.crash();
  world.backend.script = () => undefined;
  return { world, operationId };
}

async function accept(world: World, kind: OperationKind): Promise<string> {
  const machineId = 'm-0';
  const { client } = world;
  const acks = {
    create: () => client.create({ machineId }),
    configure: () => client.configure(binding(machineId)),
    drain: () => client.drain({ machineId, gracePeriodSeconds: 3n }),
    delete: () => client.delete({ machineId }),
  };
  return (await acks[kind]()).operationId;
}

function byId<M extends { readonly id: string }>(machines: readonly M[]): readonly M[] {
  return machines.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

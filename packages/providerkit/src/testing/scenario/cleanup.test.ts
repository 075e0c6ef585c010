// Proves the ways out of Failed (provider-contract §10): after the delay or at once, after a successful
// cleanup only, to an empty slot or a wiped host, with everything of the old life cleared.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { binding, slot, World } from './world.ts';

const options = { failedCleanupAfterMs: 600_000 };

test('a failed create returns to an empty slot after the delay, not before', async () => {
  const world = await failedCreate(await new World({ options }).start());
  const { revision } = await world.settle(world.client.list({}));
  await world.run(599_000);
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
  await world.run(2_000);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.SPECULATIVE);
  assert.equal(machine.lastError, '');
  assert.equal(world.backend.countOf('delete'), 0, 'there was nothing to delete');
  const delta = await world.settle(world.client.list({ sinceRevision: revision }));
  assert.deepEqual(delta.machines, [machine]);
  assert.equal((await world.toIdle('m-0')).state, MachineState.IDLE);
});

test('a create that failed here but succeeded there is deleted first', async () => {
  const world = await failedCreate(await new World({ options }).start());
  const { ref } = world.backend.addHost('m-0');
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
  const deletions = world.backend.calls.filter(({ name }) => name === 'delete');
  assert.deepEqual(
    deletions.map(({ hostRef }) => hostRef),
    [ref],
  );
});

test('a bound machine loses binding and metadata with its host', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  await world.run(601_000);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.SPECULATIVE);
  assert.deepEqual([machine.cluster, machine.shardMetadata, machine.host], ['', {}, undefined]);
  assert.equal(world.backend.countOf('delete'), 1);
});

test('a fixed host is wiped and Idle again', async () => {
  const world = await failedConfigure(await new World({ options, canDelete: false }).start());
  await world.run(601_000);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.IDLE);
  assert.notEqual(machine.host, undefined);
  assert.deepEqual([machine.cluster, machine.shardMetadata, machine.lastError], ['', {}, '']);
  const wipe = world.backend.calls.findLast(({ name }) => name === 'drain');
  assert.equal(wipe?.gracePeriodSeconds, 0);
});

test('a fixed slot whose host is gone becomes an empty slot', async () => {
  const world = await failedConfigure(await new World({ options, canDelete: false }).start());
  world.backend.removeHost('m-0');
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
  assert.equal(world.backend.countOf('drain'), 0);
});

test('a cleanup that fails leaves the machine Failed and is tried again', async () => {
  const outcomes: string[] = [];
  const observer = { failedCleanup: (outcome: string) => void outcomes.push(outcome) };
  const world = await failedConfigure(await new World({ options, observer }).start());
  world.backend.script = ({ name }) =>
    name === 'delete' ? Promise.reject(new Error('conflict')) : undefined;
  await world.run(601_000);
  const failed = await world.get('m-0');
  assert.equal(failed.state, MachineState.FAILED);
  assert.equal(failed.cluster, 'a');
  world.backend.script = () => undefined;
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
  assert.deepEqual(outcomes, ['error', 'success']);
});

test('nothing is concluded from a failing describe', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  world.backend.script = ({ name }) =>
    name === 'describe' ? Promise.reject(new Error('throttled')) : undefined;
  await world.run(650_000);
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
  world.backend.script = () => undefined;
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
});

test('a full store at the end of a cleanup leaves the machine Failed', async () => {
  const world = await failedCreate(await new World({ options }).start());
  world.store.isFull = true;
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
  world.store.isFull = false;
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
});

test('many failures share one describe and one timer', async () => {
  const slots = Array.from({ length: 50 }, (_, i) => slot(`m-${i}`));
  const world = await new World({ options, slots }).start();
  world.backend.script = ({ name }) =>
    name === 'create' ? Promise.reject(new Error('capacity')) : undefined;
  for (const { id } of slots) await world.settle(world.client.create({ machineId: id }));
  await world.run(1_000);
  assert.equal(world.time.pendingTimers, 1);
  const describes = world.backend.countOf('describe');
  await world.run(600_000);
  assert.equal(world.backend.countOf('describe') - describes, 1);
  const { machines } = await world.settle(world.client.list({ states: [MachineState.FAILED] }));
  assert.equal(machines.length, 0);
});

test('a backend may bring its own cleanup', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  const cleaned: string[] = [];
  Object.assign(world.backend, {
    cleanupFailed: async ({ machine }: { machine: { id: string } }) => {
      cleaned.push(machine.id);
    },
  });
  await world.run(601_000);
  assert.deepEqual(cleaned, ['m-0']);
  assert.equal(world.backend.countOf('delete'), 0);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
});

test('failed machines of an earlier process are cleaned up as well', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  world.crash();
  await world.start();
  await world.run(601_000);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
});

test('ResetFailed does the same at once, tells, and leaves an audit line', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  const answer = await world.settle(world.admin.resetFailed({ machineId: 'm-0' }));
  assert.equal(answer.cleaned, true);
  assert.deepEqual(answer.machine, await world.get('m-0'));
  assert.equal(answer.machine?.state, MachineState.SPECULATIVE);
  const audit = world.logLines.findLast((line) => line.includes('msg=audit')) ?? '';
  assert.match(audit, /rpc=\/bigfleet\.ext\.v1alpha1\.ProviderAdmin\/ResetFailed/);
  assert.match(audit, /identity=unauthenticated.*machine_id=m-0 outcome=ok/);
});

test('ResetFailed refuses what is not Failed, never with the code of the fence', async () => {
  const world = await new World({ options }).start();
  const reset = (machineId: string): Promise<string> =>
    world.codeOf(world.admin.resetFailed({ machineId }));
  assert.equal(await reset('m-0'), 'INVALID_ARGUMENT');
  assert.equal(await reset('ghost'), 'NOT_FOUND');
  assert.equal(await reset(''), 'INVALID_ARGUMENT');
  await failedConfigure(world);
  world.backend.script = ({ name }) =>
    name === 'delete' ? Promise.reject(new Error('conflict')) : undefined;
  assert.equal(await reset('m-0'), 'UNAVAILABLE');
  const audits = world.logLines.filter((line) => line.includes('msg=audit'));
  assert.equal(audits.length, 4);
});

test('two cleanups of one machine never run at once', async () => {
  const world = await failedConfigure(await new World({ options }).start());
  world.backend.script = ({ name, signal }) =>
    name === 'delete' ? sleep(world.time.runtime, 5_000, signal) : undefined;
  const first = world.admin.resetFailed({ machineId: 'm-0' });
  await world.run(100);
  assert.equal(await world.codeOf(world.admin.resetFailed({ machineId: 'm-0' })), 'UNAVAILABLE');
  await world.settle(first);
  assert.equal(world.backend.countOf('delete'), 1);
});

async function failedCreate(world: World): Promise<World> {
  world.backend.script = ({ name }) =>
    name === 'create' ? Promise.reject(new Error('no capacity')) : undefined;
  await world.settle(world.client.create({ machineId: 'm-0' }));
  await world.run(100);
  world.backend.script = () => undefined;
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
  return world;
}

async function failedConfigure(world: World): Promise<World> {
  await world.toIdle('m-0');
  world.backend.script = ({ name }) =>
    name === 'configure' ? Promise.reject(new Error('hook exit 1')) : undefined;
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(100);
  world.backend.script = () => undefined;
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
  return world;
}

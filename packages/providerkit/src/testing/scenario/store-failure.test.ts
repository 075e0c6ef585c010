// Proves write-ahead (provider-contract §13): no ack before its commit; a refused commit is UNAVAILABLE with
// nothing applied and nothing started; reads go on; a result that can't be refused is kept and
// saved again; readiness tells; recovery needs no restart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import type { StoreImage } from '../../store/store.ts';
import { binding, World } from './world.ts';

const token = { shardId: 's', shardEpoch: 1n, sequenceNumber: 1n };

test('an ack waits for its commit, and its work for the ack', async () => {
  const world = await new World().start();
  world.store.before = () => sleep(world.time.runtime, 500);
  let isAcked = false;
  const call = world.client.create({ machineId: 'm-0' }).then(() => {
    isAcked = true;
  });
  await world.run(499);
  assert.equal(isAcked, false);
  assert.equal((await world.get('m-0')).state, MachineState.SPECULATIVE);
  assert.equal(world.backend.countOf('create'), 0);
  await world.run(1);
  assert.equal(isAcked, true);
  await world.settle(call);
});

test('a full store refuses mutations, applies nothing, serves reads, and recovers', async () => {
  const saves: string[] = [];
  const observer = { storeSave: (outcome: string) => void saves.push(outcome) };
  const world = await new World({ observer }).start();
  await world.toConfigured('m-1');
  const image = await world.memory.load();
  const listed = await world.settle(world.client.list({}));
  saves.length = 0;
  world.store.isFull = true;
  const calls = [
    () => world.client.create({ machineId: 'm-0', ...token }),
    () => world.client.configure({ ...binding('m-1'), ...token }),
    () => world.client.drain({ machineId: 'm-1', ...token }),
    () => world.client.drain({ machineId: 'm-0', ...token }),
    () => world.client.create({ machineId: 'ghost', ...token }),
  ];
  for (const call of calls) assert.equal(await world.codeOf(call()), 'UNAVAILABLE');
  await world.run(1_000);
  assert.deepEqual(saves, ['error', 'error', 'error', 'error', 'error']);
  assert.deepEqual(await world.memory.load(), image);
  assert.deepEqual(await world.settle(world.client.list({})), listed);
  assert.equal(world.provider.ready, true, 'a refused accept loses nothing');
  world.store.isFull = false;
  // The very same tokens: no mark had moved.
  const codes: string[] = [];
  for (const call of calls) codes.push(await world.codeOf(call()));
  assert.deepEqual(codes, ['OK', 'OK', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION', 'NOT_FOUND']);
  await world.run(1_000);
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
});

test('a completion that the store refuses is kept, saved again, and readiness tells', async () => {
  const world = await new World().start();
  const accepted = await world.settle(world.client.create({ machineId: 'm-0' }));
  world.store.isFull = true;
  await world.run(100);
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
  assert.equal(stateIn(await world.memory.load(), 'm-0'), 'Creating');
  assert.equal(world.provider.ready, true);
  await world.run(60_000);
  assert.equal(world.provider.ready, false);
  assert.deepEqual(world.provider.notReadyReasons, ['store']);
  const errors = world.logLines.filter((line) =>
    line.includes('msg="store save failed (durability at risk)"'),
  );
  assert.ok(errors.length >= 3 && errors.length < 20, `${errors.length} attempts in a minute`);
  world.store.isFull = false;
  await world.run(31_000);
  assert.equal(world.provider.ready, true);
  assert.equal(stateIn(await world.memory.load(), 'm-0'), 'Idle');
  assert.equal(world.backend.countOf('create'), 1);
  const again = await world.settle(world.client.create({ machineId: 'm-0' }));
  assert.equal(again.operationId, accepted.operationId);
});

test('a later accept saves what an earlier completion could not', async () => {
  const world = await new World().start();
  await world.settle(world.client.create({ machineId: 'm-0' }));
  world.store.isFull = true;
  await world.run(100);
  world.store.isFull = false;
  await world.settle(world.client.configure(binding('m-0')));
  assert.equal(stateIn(await world.memory.load(), 'm-0'), 'Configuring');
  await world.run(60_000);
  assert.equal(stateIn(await world.memory.load(), 'm-0'), 'Configured');
});

test('a crash before the save of a completion repeats the work under the same id', async () => {
  const world = await new World().start();
  const { operationId } = await world.settle(world.client.create({ machineId: 'm-0' }));
  world.store.isFull = true;
  await world.run(100);
  world.crash();
  await world.start();
  await world.run(1_000);
  const creates = world.backend.calls.filter(({ name }) => name === 'create');
  assert.deepEqual(
    creates.map((call) => call.operationId),
    [operationId, operationId],
  );
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
});

test('a cursor never points past what a crash would keep', async () => {
  const world = await new World().start();
  const start = await world.settle(world.client.list({}));
  await world.settle(world.client.create({ machineId: 'm-0' }));
  world.store.isFull = true;
  await world.run(100);
  const seen = await world.settle(world.client.list({ sinceRevision: start.revision }));
  assert.equal(seen.machines[0]?.state, MachineState.IDLE);
  world.crash();
  await world.start();
  await world.run(1_000);
  await world.toIdle('m-1');
  const delta = await world.settle(world.client.list({ sinceRevision: seen.revision }));
  assert.deepEqual(delta.machines.map(({ id }) => id).toSorted(), ['m-0', 'm-1']);
});

test('the caller that gave up while waiting for the machine is not served', async () => {
  const world = await new World().start();
  world.store.before = () => sleep(world.time.runtime, 100);
  const first = world.client.create({ machineId: 'm-0' });
  const gone = new AbortController();
  const second = world.client.create({ machineId: 'm-0', ...token }, { signal: gone.signal });
  gone.abort();
  assert.equal(await world.codeOf(second), 'CANCELLED');
  await world.settle(first);
  assert.ok(!world.store.kept.some(({ kind }) => kind === 'fence'));
});

function stateIn(image: StoreImage | undefined, id: string): string | undefined {
  return image?.machines.find((record) => record.id === id)?.state;
}

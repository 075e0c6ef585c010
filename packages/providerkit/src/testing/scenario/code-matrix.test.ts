// Proves every cell of the code matrix (provider-contract §4.1): which code each call gets in each state,
// whether it replays or accepts, and that a rejected call leaves the record as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineStateName, OperationKind } from '../../model/machine.ts';
import { stateNumbers } from '../../encoding/wire-names.ts';
import { binding, slot, World } from './world.ts';

/** How a machine came to its state: with every operation recorded, or straight from the seed. */
type History = 'walked' | 'seeded';
type Cell = 'accept' | 'replay' | 'INTERNAL';

interface Row {
  readonly state: MachineStateName;
  readonly history: History;
  readonly cells: Readonly<Record<OperationKind, Cell>>;
}

const reject = 'INTERNAL';
const rows: readonly Row[] = [
  row('Speculative', 'seeded', 'accept', reject, reject, reject),
  row('Speculative', 'walked', 'accept', reject, reject, 'replay'),
  row('Creating', 'walked', 'replay', reject, reject, reject),
  row('Idle', 'seeded', reject, 'accept', reject, 'accept'),
  row('Idle', 'walked', 'replay', 'accept', 'replay', 'accept'),
  row('Configuring', 'walked', reject, 'replay', reject, reject),
  row('Configured', 'walked', reject, 'replay', 'accept', reject),
  row('Draining', 'walked', reject, reject, 'replay', reject),
  row('Deleting', 'walked', reject, reject, reject, 'replay'),
  row('Failed', 'walked', reject, reject, reject, reject),
];

function row(
  state: MachineStateName,
  history: History,
  create: Cell,
  configure: Cell,
  drain: Cell,
  deletion: Cell,
): Row {
  return { state, history, cells: { create, configure, drain, delete: deletion } };
}

const kinds: readonly OperationKind[] = ['create', 'configure', 'drain', 'delete'];

for (const { state, history, cells } of rows) {
  for (const kind of kinds) {
    test(`${kind} on ${history} ${state}: ${cells[kind]}`, async () => {
      const world = await machineIn(state, history);
      const before = await world.get('m-0');
      assert.equal(before.state, stateNumbers[state]);
      const known = operationIds(world);
      const workBefore = world.backend.calls.length;
      if (cells[kind] === reject) {
        assert.equal(await world.codeOf(call(world, kind)), reject);
        assert.deepEqual(await world.get('m-0'), before);
      } else {
        const ack = await world.settle(call(world, kind));
        assert.equal(known.has(ack.operationId), cells[kind] === 'replay');
        if (cells[kind] === 'replay') assert.deepEqual(ack.machine, before);
      }
      await world.run(5);
      assert.equal(world.backend.calls.length - workBefore, cells[kind] === 'accept' ? 1 : 0);
    });
  }
}

test('an unknown id is NOT_FOUND and stays unknown, an empty one INVALID_ARGUMENT', async () => {
  const world = await new World().start();
  for (const kind of kinds) {
    assert.equal(await world.codeOf(call(world, kind, 'ghost')), 'NOT_FOUND');
    assert.equal(await world.codeOf(call(world, kind, '')), 'INVALID_ARGUMENT');
  }
  assert.equal(await world.codeOf(world.client.get({ id: 'ghost' })), 'NOT_FOUND');
  assert.equal(await world.codeOf(world.client.get({ id: '' })), 'INVALID_ARGUMENT');
  assert.equal((await world.settle(world.client.list({}))).machines.length, 2);
});

test('without the capability Delete is UNIMPLEMENTED before fence and state', async () => {
  const world = await new World({ canDelete: false }).start();
  await world.toIdle('m-0');
  const token = { shardId: 's', shardEpoch: 9n, sequenceNumber: 9n };
  const ids = ['m-0', 'm-1', 'ghost'];
  for (const machineId of ids) {
    const code = await world.codeOf(world.client.delete({ machineId, ...token }));
    assert.equal(code, 'UNIMPLEMENTED');
  }
  // The mark did not move: an older token still passes.
  const older = { ...token, shardEpoch: 1n };
  assert.equal(await world.codeOf(world.client.create({ machineId: 'm-1', ...older })), 'OK');
  assert.equal(await world.codeOf(world.client.delete({ machineId: '' })), 'INVALID_ARGUMENT');
});

type Ack = Awaited<ReturnType<World['client']['create']>>;

function call(world: World, kind: OperationKind, machineId = 'm-0'): Promise<Ack> {
  switch (kind) {
    case 'create':
      return world.client.create({ machineId });
    case 'configure':
      return world.client.configure(binding(machineId));
    case 'drain':
      return world.client.drain({ machineId, gracePeriodSeconds: 1n });
    case 'delete':
      return world.client.delete({ machineId });
  }
}

function operationIds(world: World): Set<string> {
  const operations = world.store.kept.flatMap((c) => (c.kind === 'operation' ? [c.operation] : []));
  return new Set(operations.map(({ operationId }) => operationId));
}

/** The transitional states are held by a backend that does not answer. */
async function machineIn(state: MachineStateName, history: History): Promise<World> {
  const host = { provider: 'test-1', ref: 'i-seed' };
  const isSeededIdle = history === 'seeded' && state === 'Idle';
  const slots = [isSeededIdle ? slot('m-0', { host }) : slot('m-0')];
  const world = await new World({ slots }).start();
  if (history === 'seeded') return world;
  const hold = (name: string): void => {
    world.backend.script = (c) => (c.name === name ? new Promise(() => {}) : undefined);
  };
  if (state === 'Creating') hold('create');
  await world.toIdle('m-0');
  if (state === 'Creating') return world;
  if (state === 'Configuring') hold('ready');
  if (state === 'Failed') world.backend.script = () => Promise.reject(new Error('broken'));
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(100);
  if (state === 'Configuring' || state === 'Configured' || state === 'Failed') return world;
  if (state === 'Draining') hold('drain');
  await world.settle(world.client.drain({ machineId: 'm-0' }));
  await world.run(100);
  if (state === 'Draining' || state === 'Idle') return world;
  if (state === 'Deleting') hold('delete');
  await world.settle(world.client.delete({ machineId: 'm-0' }));
  await world.run(100);
  return world;
}

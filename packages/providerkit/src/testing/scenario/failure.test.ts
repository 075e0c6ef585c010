// Proves what happens when the substrate misbehaves: errors and timeouts end in Failed with a
// telling text, never back where they came from; late results are discarded; a late host is torn
// down; Failed is readable and terminal for every call; the blob never reaches an error text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { ProviderError } from '../../backend/provider-error.ts';
import type { OperationKind } from '../../model/machine.ts';
import type { TransitionOutcome } from '../../observer.ts';
import type { CallName } from './scripted-backend.ts';
import { binding, World, type WorldOptions } from './world.ts';

const timeouts = { create: 2_000, configure: 2_000, drain: 2_000, delete: 2_000 };
const quick: WorldOptions = { options: { timeouts, failedCleanupAfterMs: 0 } };

interface Case {
  readonly kind: OperationKind;
  readonly state: number;
  readonly timeoutMs: number;
}

const cases: readonly Case[] = [
  { kind: 'create', state: MachineState.CREATING, timeoutMs: 2_000 },
  { kind: 'configure', state: MachineState.CONFIGURING, timeoutMs: 2_000 },
  // Grace 3 s + 150 s is more than the configured two seconds.
  { kind: 'drain', state: MachineState.DRAINING, timeoutMs: 153_000 },
  { kind: 'delete', state: MachineState.DELETING, timeoutMs: 2_000 },
];

for (const { kind, state, timeoutMs } of cases) {
  test(`a ${kind} that is refused becomes Failed with the text`, async () => {
    const world = await beforeStep(kind);
    const cause = { class: 'capacity', op: 'RunInstances', vendorCode: 'ICE', message: 'no room' };
    world.backend.script = ({ name }) =>
      name === kind ? Promise.reject(new ProviderError(cause as never)) : undefined;
    await step(world, kind);
    await world.run(10);
    const machine = await world.get('m-0');
    assert.equal(machine.state, MachineState.FAILED);
    assert.equal(machine.lastError, 'RunInstances: [capacity/ICE] no room');
  });

  test(`a ${kind} that hangs is cancelled and Failed at its timeout, not before`, async () => {
    const world = await beforeStep(kind);
    const cancelled: (() => boolean)[] = [];
    world.backend.script = ({ name, signal }) => {
      if (name !== kind) return undefined;
      cancelled.push(() => signal.aborted);
      return new Promise(() => {});
    };
    await step(world, kind);
    await world.run(timeoutMs - 10);
    assert.equal((await world.get('m-0')).state, state);
    assert.equal(cancelled[0]?.(), false);
    await world.run(10);
    const machine = await world.get('m-0');
    assert.equal(machine.state, MachineState.FAILED);
    assert.equal(
      machine.lastError,
      `${kind}: [timeout/${kind}] timed out after ${timeoutMs / 1_000} s`,
    );
    assert.equal(cancelled[0]?.(), true);
  });
}

for (const kind of ['configure', 'drain'] as const) {
  test(`a ${kind} that succeeds after its timeout is discarded`, async () => {
    const outcomes: string[] = [];
    const observer = {
      transition: (of: OperationKind, outcome: TransitionOutcome) => {
        outcomes.push(`${of}/${outcome}`);
      },
    };
    const world = await beforeStep(kind, { ...quick, observer });
    const late = Promise.withResolvers<void>();
    world.backend.script = ({ name }) => (name === kind ? late.promise : undefined);
    await step(world, kind);
    await world.run(200_000);
    const failed = await world.get('m-0');
    assert.equal(failed.state, MachineState.FAILED);
    assert.equal(outcomes.at(-1), `${kind}/timeout`);
    const readyCalls = world.backend.countOf('ready');
    late.resolve();
    await world.run(2_000);
    assert.deepEqual(await world.get('m-0'), failed);
    assert.equal(world.backend.countOf('ready'), readyCalls);
    if (kind === 'drain') assert.equal(outcomes.at(-1), 'drain/late_discarded');
  });
}

test('an absurd grace is cut to a day, so that no machine is Draining for ever', async () => {
  const world = await beforeStep('drain');
  world.backend.script = ({ name }) => (name === 'drain' ? new Promise(() => {}) : undefined);
  const gracePeriodSeconds = 2n ** 63n - 1n;
  await world.settle(world.client.drain({ machineId: 'm-0', gracePeriodSeconds }));
  await world.run((86_400 + 149) * 1_000);
  assert.equal(world.backend.calls.at(-1)?.gracePeriodSeconds, 86_400);
  assert.equal((await world.get('m-0')).state, MachineState.DRAINING);
  await world.run(2_000);
  assert.equal((await world.get('m-0')).state, MachineState.FAILED);
});

test('a failed configure keeps its binding for diagnosis; Failed refuses every call', async () => {
  const world = await beforeStep('configure');
  world.backend.script = ({ name }) =>
    name === 'configure' ? Promise.reject(new Error('hook exit 3')) : undefined;
  await step(world, 'configure');
  await world.run(10);
  const failed = await world.get('m-0');
  assert.equal(failed.cluster, 'a');
  assert.deepEqual(failed.shardMetadata, binding('m-0').shardMetadata);
  assert.equal(failed.lastError, 'configure: [unclassified/Error] hook exit 3');
  for (const kind of ['create', 'configure', 'drain', 'delete'] as const) {
    assert.equal(await world.codeOf(call(world, kind)), 'INTERNAL');
  }
  assert.deepEqual(await world.get('m-0'), failed);
  const listed = await world.settle(world.client.list({ states: [MachineState.FAILED] }));
  assert.deepEqual(listed.machines, [failed]);
});

test('a host without ref fails the create instead of settling Idle', async () => {
  const world = await beforeStep('create');
  for (const host of [
    { provider: 'p', ref: '' },
    { provider: '', ref: 'i' },
  ]) {
    world.backend.createInstance = async () => ({ host });
    await step(world, 'create');
    await world.run(10);
    const machine = await world.get('m-0');
    assert.equal(machine.state, MachineState.FAILED);
    assert.match(machine.lastError, /^create: \[config\/bad_result\] the backend returned no host/);
    await world.settle(world.provider.resetFailed('m-0'));
  }
});

test('a create that succeeds late is torn down with its own operation id, once', async () => {
  const teardowns: string[] = [];
  const observer = { lateCreate: (outcome: string) => void teardowns.push(outcome) };
  const world = await beforeStep('create', { ...quick, observer });
  const late = Promise.withResolvers<void>();
  world.backend.script = ({ name }) => (name === 'create' ? late.promise : undefined);
  const { operationId } = await step(world, 'create');
  await world.run(3_000);
  const failed = await world.get('m-0');
  late.resolve();
  await world.run(1_000);
  const deletions = world.backend.calls.filter(({ name }) => name === 'delete');
  assert.deepEqual(
    deletions.map((call) => [call.operationId, call.hostRef]),
    [[operationId, 'i-1']],
  );
  assert.deepEqual(teardowns, ['torn_down']);
  assert.deepEqual(await world.get('m-0'), failed);
});

test('a late create whose slot has a new life is left to the sweep of duplicates', async () => {
  const teardowns: string[] = [];
  const observer = { lateCreate: (outcome: string) => void teardowns.push(outcome) };
  const world = await beforeStep('create', { ...quick, observer });
  const late = Promise.withResolvers<void>();
  world.backend.script = ({ name }) => (name === 'create' ? late.promise : undefined);
  await step(world, 'create');
  await world.run(3_000);
  world.backend.script = () => undefined;
  await world.settle(world.provider.resetFailed('m-0'));
  await world.toIdle('m-0');
  late.resolve();
  await world.run(1_000);
  assert.deepEqual(teardowns, ['left']);
  assert.equal(world.backend.countOf('delete'), 0);
  assert.equal((await world.get('m-0')).state, MachineState.IDLE);
});

test('a quoted bootstrap blob is taken out of last_error', async () => {
  const world = await beforeStep('configure');
  const blob = Buffer.from(binding('m-0').bootstrapBlob);
  const message = `sh: ${blob.toString()}: not found (${blob.toString('base64')})`;
  world.backend.script = ({ name }) =>
    name === 'configure' ? Promise.reject(new Error(message)) : undefined;
  await step(world, 'configure');
  await world.run(10);
  const { lastError } = await world.get('m-0');
  assert.match(lastError, /sh: \[bootstrap blob\]: not found \(\[bootstrap blob\]\)$/);
  assert.ok(!world.logLines.join('').includes(blob.toString()));
  const stored = JSON.stringify(world.store.kept, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  assert.ok(!stored.includes(blob.toString()) && !stored.includes(blob.toString('base64')));
});

test('an endless error text is cut; last_error stays readable', async () => {
  const world = await beforeStep('create');
  world.backend.script = ({ name }) =>
    name === 'create' ? Promise.reject(new Error('\ud83d\ude00'.repeat(10_000))) : undefined;
  await step(world, 'create');
  await world.run(10);
  const { lastError } = await world.get('m-0');
  assert.ok(lastError.length <= 4_096 && lastError.isWellFormed() && lastError.endsWith('…'));
});

test('three refused credentials in a row end readiness, one success restores it', async () => {
  const world = await new World(quick).start();
  const auth = { class: 'auth', op: 'Describe', vendorCode: '403', message: 'denied' } as const;
  world.backend.script = () => Promise.reject(new ProviderError(auth));
  for (const expected of [true, true, false]) {
    assert.equal((await world.settle(world.provider.reconcile())).outcome, 'error');
    assert.equal(world.provider.ready, expected);
  }
  assert.deepEqual(world.provider.notReadyReasons, ['auth']);
  world.backend.script = () => undefined;
  await world.settle(world.provider.reconcile());
  assert.equal(world.provider.ready, true);
});

type Ack = Awaited<ReturnType<World['client']['create']>>;

function step(world: World, kind: OperationKind): Promise<Ack> {
  return world.settle(call(world, kind));
}

function call({ client }: World, kind: OperationKind): Promise<Ack> {
  const machineId = 'm-0';
  switch (kind) {
    case 'create':
      return client.create({ machineId });
    case 'configure':
      return client.configure(binding(machineId));
    case 'drain':
      return client.drain({ machineId, gracePeriodSeconds: 3n });
    case 'delete':
      return client.delete({ machineId });
  }
}

/** A machine from which this kind is legal. */
async function beforeStep(kind: CallName, options: WorldOptions = quick): Promise<World> {
  const world = await new World(options).start();
  if (kind === 'drain') await world.toConfigured('m-0');
  else if (kind !== 'create') await world.toIdle('m-0');
  return world;
}

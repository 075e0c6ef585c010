// Proves reconcile (provider-contract §16.3, §14.2): what it refreshes, adds and refuses, that an idle tick
// bumps nothing, that it decides against the present record, and when a host counts as lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { MachineState } from '@bigfleet/wire';
import { binding, slot, World } from './world.ts';

test('facts are refreshed; identity, state and binding never', async () => {
  const world = await new World().start();
  await world.toConfigured('m-0');
  const before = await world.get('m-0');
  const listed = world.backend.instances.get('m-0');
  assert.ok(listed);
  world.backend.instances.set('m-0', {
    ...listed,
    instanceType: 'other',
    zone: 'z-9',
    capacityType: 'Spot',
    pricePerHour: 1.5,
    interruptionProbability: 0.25,
    resources: new Map([['cpu', '8']]),
    allocatable: new Map([['cpu', '7']]),
    labels: new Map([['pool', 'new']]),
  });
  const report = await world.settle(world.provider.reconcile());
  assert.equal(report.outcome, 'success');
  assert.equal(report.refreshedCount, 1);
  const after = await world.get('m-0');
  assert.deepEqual(after, {
    ...before,
    pricePerHour: 1.5,
    interruptionProbability: 0.25,
    resources: { ...before.resources, resources: { cpu: '8' } },
    allocatable: { ...before.allocatable, resources: { cpu: '7' } },
    labels: { pool: 'new' },
  });
});

test('a reconcile that changes nothing writes nothing and bumps nothing', async () => {
  const world = await new World().start();
  await world.toConfigured('m-0');
  const { revision } = await world.settle(world.client.list({}));
  const commits = world.store.commitCount;
  for (let i = 0; i < 5; i++) await world.settle(world.provider.reconcile());
  assert.equal(world.store.commitCount, commits);
  const delta = await world.settle(world.client.list({ sinceRevision: revision }));
  assert.deepEqual(delta.machines, []);
  assert.deepEqual(delta.revision, revision);
});

test('new ids are added, invalid ones skipped with a warning, nothing is removed', async () => {
  const world = await new World().start();
  world.backend.instances.delete('m-1');
  world.backend.instances.set('m-2', slot('m-2'));
  world.backend.instances.set('m-3', slot('m-3', { interruptionProbability: 2 }));
  const report = await world.settle(world.provider.reconcile());
  assert.deepEqual([report.addedCount, report.invalidCount], [1, 1]);
  const { machines } = await world.settle(world.client.list({}));
  assert.deepEqual(machines.map(({ id }) => id).toSorted(), ['m-0', 'm-1', 'm-2']);
  const warning = world.logLines.find((line) =>
    line.includes('reconcile skipping invalid instance'),
  );
  assert.match(warning ?? '', /level=WARN.*machine_id=m-3/);
});

test('slots that left the offering are retired only where asked, and only Speculative ones', async () => {
  const world = await new World({ options: { retireAbsentSlots: true } }).start();
  await world.toIdle('m-0');
  world.backend.instances.delete('m-0');
  world.backend.instances.delete('m-1');
  await world.settle(world.provider.reconcile());
  const { machines } = await world.settle(world.client.list({}));
  assert.deepEqual(
    machines.map(({ id }) => id),
    ['m-0'],
  );
  assert.equal(await world.codeOf(world.client.get({ id: 'm-1' })), 'NOT_FOUND');
  world.crash();
  await world.start();
  assert.equal(await world.codeOf(world.client.get({ id: 'm-1' })), 'NOT_FOUND');
});

test('a refresh that arrives after a transition began does not undo it', async () => {
  const world = await new World().start();
  world.backend.script = ({ name, signal }) =>
    name === 'describe' ? sleep(world.time.runtime, 5_000, signal) : undefined;
  world.backend.instances.set('m-0', slot('m-0', { pricePerHour: 9 }));
  const reconciling = world.provider.reconcile();
  await world.run(1_000);
  await world.settle(world.client.create({ machineId: 'm-0' }));
  await world.settle(reconciling);
  await world.run(1_000);
  const machine = await world.get('m-0');
  assert.equal(machine.state, MachineState.IDLE);
});

test('one at a time: a tick that meets a running one is skipped', async () => {
  const outcomes: string[] = [];
  const observer = { reconcile: (outcome: string) => void outcomes.push(outcome) };
  const world = await new World({ observer }).start({ reconcileIntervalMs: 10_000 });
  world.backend.script = ({ name, signal }) =>
    name === 'describe' ? sleep(world.time.runtime, 5_000, signal) : undefined;
  await world.run(10_500);
  assert.equal((await world.settle(world.provider.reconcile())).outcome, 'skipped');
  await world.run(5_000);
  assert.deepEqual(outcomes, ['skipped', 'success']);
  await world.run(10_000 + 5_000);
  assert.equal(outcomes.length, 3, 'the next tick counts from the end of the last');
});

test('a describe that hangs is cut off and concludes nothing', async () => {
  const world = await new World().start();
  world.backend.script = () => new Promise(() => {});
  const reconciling = world.provider.reconcile();
  await world.run(29_999);
  let isDone = false;
  reconciling.then(
    () => (isDone = true),
    () => undefined,
  );
  await world.run(0);
  assert.equal(isDone, false);
  assert.equal((await world.settle(reconciling)).outcome, 'error');
});

test('a backend that lists nonsense is an error, not the end of the process', async () => {
  const world = await new World().start();
  for (const nonsense of [undefined, null, 7, [null], [undefined, 1]]) {
    world.backend.describe = async () => nonsense as never;
    const { outcome } = await world.settle(world.provider.reconcile());
    assert.equal(outcome, 'error', String(nonsense));
  }
  assert.equal((await world.settle(world.client.list({}))).machines.length, 2);
});

test('a full store ends a reconcile with an error and half a refresh at most', async () => {
  const world = await new World().start();
  world.backend.instances.set('m-0', slot('m-0', { pricePerHour: 2 }));
  world.store.isFull = true;
  assert.equal((await world.settle(world.provider.reconcile())).outcome, 'error');
  assert.equal((await world.get('m-0')).pricePerHour, 0.4);
  world.store.isFull = false;
  assert.equal((await world.settle(world.provider.reconcile())).outcome, 'success');
  assert.equal((await world.get('m-0')).pricePerHour, 2);
});

interface LossStep {
  /** Before the describe. */
  readonly waitMs: number;
  readonly describe: 'gone' | 'listed' | 'listed_elsewhere' | 'fails';
  readonly isLost: boolean;
}

const lossRows: readonly (readonly [string, readonly LossStep[]])[] = [
  ['two describes 30 s apart', [step(0, 'gone'), step(30_000, 'gone', true)]],
  [
    'two describes too close, then a third',
    [step(0, 'gone'), step(29_999, 'gone'), step(1, 'gone', true)],
  ],
  [
    'a describe in between that lists it',
    [step(0, 'gone'), step(20_000, 'listed'), step(20_000, 'gone'), step(29_000, 'gone')],
  ],
  [
    'a failed describe counts for nothing',
    [step(0, 'gone'), step(60_000, 'fails'), step(1, 'gone', true)],
  ],
  ['failed describes only', [step(0, 'fails'), step(60_000, 'fails')]],
  ['the host under another id', [step(0, 'listed_elsewhere'), step(60_000, 'listed_elsewhere')]],
];

function step(waitMs: number, describe: LossStep['describe'], isLost = false): LossStep {
  return { waitMs, describe, isLost };
}

for (const [name, steps] of lossRows) {
  test(`host loss: ${name}`, async () => {
    const world = await new World({ options: { failedCleanupAfterMs: 0 } }).start();
    const { host } = await world.toConfigured('m-0');
    const listed = world.backend.instances.get('m-0');
    assert.ok(listed !== undefined && host !== undefined);
    for (const { waitMs, describe, isLost } of steps) {
      await world.run(waitMs);
      world.backend.instances.set('m-0', slot('m-0'));
      world.backend.instances.delete('orphan');
      if (describe === 'listed') world.backend.instances.set('m-0', listed);
      if (describe === 'listed_elsewhere') {
        world.backend.instances.set('orphan', slot('orphan', { host: { ...host } }));
      }
      world.backend.script =
        describe === 'fails' ? () => Promise.reject(new Error('throttled')) : () => undefined;
      await world.settle(world.provider.reconcile());
      const machine = await world.get('m-0');
      assert.equal(machine.state, isLost ? MachineState.FAILED : MachineState.CONFIGURED);
      if (isLost) assert.match(machine.lastError, /^host lost: /);
    }
  });
}

test('a machine in transition is not lost, and a new host does not inherit a miss', async () => {
  const world = await new World({ options: { failedCleanupAfterMs: 0 } }).start();
  await world.toIdle('m-0');
  world.backend.instances.set('m-0', slot('m-0'));
  await world.settle(world.provider.reconcile());
  world.backend.script = ({ name }) => (name === 'delete' ? new Promise(() => {}) : undefined);
  await world.settle(world.client.delete({ machineId: 'm-0' }));
  await world.run(60_000);
  await world.settle(world.provider.reconcile());
  assert.equal((await world.get('m-0')).state, MachineState.DELETING);

  world.backend.script = () => undefined;
  await world.toIdle('m-1');
  const first = world.backend.instances.get('m-1');
  assert.ok(first);
  world.backend.instances.set('m-1', slot('m-1'));
  await world.settle(world.provider.reconcile());
  await world.settle(world.client.delete({ machineId: 'm-1' }));
  await world.run(60_000);
  await world.toIdle('m-1');
  world.backend.instances.set('m-1', slot('m-1'));
  await world.settle(world.provider.reconcile());
  assert.equal((await world.get('m-1')).state, MachineState.IDLE);
});

test('a describe that began before a create ended says nothing about its host', async () => {
  const world = await new World().start();
  world.backend.script = ({ name, signal }) =>
    name === 'describe' ? sleep(world.time.runtime, 20_000, signal) : undefined;
  const stale = [...world.backend.instances.values()];
  world.backend.describe = async ({ signal }) => {
    await sleep(world.time.runtime, 20_000, signal);
    return stale;
  };
  for (let i = 0; i < 3; i++) {
    const reconciling = world.provider.reconcile();
    await world.run(1_000);
    if (i === 0) await world.toIdle('m-0');
    else await rebind(world);
    await world.settle(reconciling);
    assert.notEqual((await world.get('m-0')).state, MachineState.FAILED);
    await world.run(40_000);
  }
});

/** Changes the record while a describe is under way. */
async function rebind(world: World): Promise<void> {
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(100);
  await world.settle(world.client.drain({ machineId: 'm-0' }));
  await world.run(100);
}

// Proves that an execution is counted once, when it ends and as it ended: by the ack where that is
// the end, else by what reconcile sees of the machine, also for drains that operators have; and that
// a worker is free long before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind, CapacityType, State } from '@bigfleet/engine';
import { fourCores, openRails, type Stage, stage } from './testing/stage.ts';

const told = ({ executed }: Stage): string[] =>
  executed.map(({ order, outcome }) => `${order.kind} ${order.machineId} ${outcome}`);

/** A host in Configuring, acked by its provider. */
async function configuring(): Promise<Stage> {
  const shard = stage({ isConfigureStaged: true });
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(15_000);
  assert.equal(shard.stateOf('host'), State.Configuring);
  assert.deepEqual(
    [shard.core.load.runningCount, shard.released.length],
    [0, 1],
    'the worker is free',
  );
  assert.deepEqual(told(shard), [], 'and nothing is counted yet');
  return shard;
}

const ends = [
  ['it is Configured', 'success', ({ fake }: Stage) => void fake.completeStaged('host')],
  ['it is Failed', 'provider_error', ({ fake }: Stage) => fake.failMachine('host', 'no boot')],
  ['it is gone', 'stale_state', ({ fake }: Stage) => fake.removeMachine('host')],
] as const;
for (const [name, outcome, end] of ends) {
  test(`a bootstrap ends when reconcile sees that ${name}: ${outcome}`, async () => {
    const shard = await configuring();
    end(shard);
    await shard.virtual.runFor(11_000);
    assert.deepEqual(told(shard), [`${ActionKind.Bootstrap} host ${outcome}`]);
    assert.equal(shard.problems.includes('no boot'), outcome === 'provider_error');
    await shard.virtual.runFor(60_000);
    assert.equal(shard.executed.length, 1, 'once');
    await shard.stop();
  });
}

test('each kind has its own end: a slot is created, configured, drained and given back', async () => {
  const shard = stage();
  shard.fake.addSpeculative({ ...fourCores('slot'), capacityType: CapacityType.Spot });
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(40_000);
  await shard.demand('blue', 0);
  await shard.virtual.runFor(600_000);
  assert.deepEqual(
    told(shard),
    [ActionKind.Provision, ActionKind.Bootstrap, ActionKind.Reclaim, ActionKind.Delete].map(
      (kind) => `${kind} slot success`,
    ),
  );
  await shard.stop();
});

test('a provider that is done when it answers: counted at once, one count for both steps', async () => {
  const shard = stage({ isInstant: true });
  shard.fake.addSpeculative(fourCores('slot'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(1_000);
  assert.equal(shard.stateOf('slot'), State.Configured);
  assert.deepEqual(told(shard), [`${ActionKind.Provision} slot success`]);
  await shard.stop();
});

test('an answer that says Failed is no success', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.world.ack = (answer) => {
    assert.ok(answer.machine !== undefined);
    const machine = { ...answer.machine, state: State.Failed, lastError: 'died at once' };
    return { ...answer, machine };
  };
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(5_000);
  assert.deepEqual(told(shard), [`${ActionKind.Bootstrap} host provider_error`]);
  assert.ok(shard.problems.includes('died at once'));
  await shard.stop();
});

test('an answer without a machine says that it began: reconcile sees the end', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.world.ack = ({ operationId }) => ({ operationId, machine: undefined });
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(300);
  assert.deepEqual([shard.released.length, told(shard)], [1, []]);
  await shard.virtual.runFor(15_000);
  assert.deepEqual(told(shard), [`${ActionKind.Bootstrap} host success`]);
  await shard.stop();
});

test('an answer about another cluster is a conflict', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.world.ack = (answer) => {
    assert.ok(answer.machine !== undefined);
    return { ...answer, machine: { ...answer.machine, cluster: 'green' } };
  };
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(300);
  assert.deepEqual(told(shard), [`${ActionKind.Bootstrap} host stale_state`]);
  await shard.stop();
});

test('a drain that its operator has ends once: when its machine does', async () => {
  const shard = await handedOver();
  shard.fake.failMachine('host', 'host lost: gone');
  await shard.virtual.runFor(15_000);
  assert.equal(shard.stateOf('host'), State.Failed);
  assert.deepEqual(told(shard).slice(1), [`${ActionKind.Reclaim} host provider_error`]);
  const order = shard.released.at(-1);
  assert.ok(order !== undefined);
  // Its operator is done a moment too late: there is nothing left to do, and nothing to count.
  assert.equal(shard.core.drainDue(order, 10), true);
  await shard.virtual.runFor(15_000);
  assert.equal(shard.executed.length, 2);
  assert.equal(shard.calls.includes('drain host'), false);
  await shard.stop();
});

test('handed over, then drained by the provider: one count, at the end', async () => {
  const shard = await handedOver();
  const order = shard.released.at(-1);
  assert.ok(order !== undefined && shard.core.drainDue(order, 10));
  await shard.virtual.runFor(200);
  assert.equal(shard.stateOf('host'), State.Draining);
  assert.equal(shard.executed.length, 1, 'the provider has only begun');
  await shard.virtual.runFor(15_000);
  assert.deepEqual(told(shard).slice(1), [`${ActionKind.Reclaim} host success`]);
  await shard.stop();
});

async function handedOver(): Promise<Stage> {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(20_000);
  shard.world.drainStart = 'operator_first';
  await shard.demand('blue', 0);
  await shard.virtual.runFor(2_000);
  assert.equal(shard.core.fleet.pendingOf(0), 'drain_wait');
  assert.equal(shard.executed.length, 1);
  return shard;
}

test('the end is seen under a pause too', async () => {
  const shard = await configuring();
  shard.world.rails = { ...openRails, isPaused: true };
  shard.core.railsChanged();
  shard.fake.completeStaged('host');
  await shard.virtual.runFor(11_000);
  assert.deepEqual(told(shard), [`${ActionKind.Bootstrap} host success`]);
  await shard.stop();
});

test('while the provider is called about a drain, no List says what became of it', async () => {
  const shard = await handedOver();
  const order = shard.released.at(-1);
  shard.world.wireMs = 20_000;
  assert.ok(order !== undefined && shard.core.drainDue(order, 10));
  await shard.virtual.runFor(100);
  assert.equal(shard.core.fleet.pendingOf(0), 'in_flight');
  shard.fake.failMachine('host', 'host lost: gone');
  await shard.virtual.runFor(15_000);
  assert.equal(shard.stateOf('host'), State.Draining);
  await shard.virtual.runFor(30_000);
  assert.equal(shard.stateOf('host'), State.Failed);
  assert.deepEqual(told(shard).slice(1), [`${ActionKind.Reclaim} host provider_error`]);
  await shard.stop();
});

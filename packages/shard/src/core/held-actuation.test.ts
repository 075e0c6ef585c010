// Proves that a fence, a pause and a dry run stop what is under way and not only what comes next:
// nothing more leaves the shard, what waited is dropped or held, no machine is lost on the way, and
// what was held goes on after a resume.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind, State } from '@bigfleet/engine';
import type { ActionOrder } from '../execute/execution.ts';
import type { BlobAnswer } from '../execute/ports.ts';
import { failureOf, ProviderError } from '../provider/provider-error.ts';
import { fourCores, openRails, type Stage, stage, type StageOptions } from './testing/stage.ts';

const PAUSED = { ...openRails, isPaused: true };
const DRY = { ...openRails, isDryRun: true };
const holds = [
  ['a pause', PAUSED, 'suppressed'],
  ['a dry run', DRY, 'dryrun'],
] as const;

const fenced = new ProviderError({
  failure: failureOf('FAILED_PRECONDITION'),
  status: 'FAILED_PRECONDITION',
  message: 'newer token seen',
});

function setRails({ world, core }: Stage, rails: Stage['world']['rails']): void {
  world.rails = rails;
  core.railsChanged();
}

/** Hosts m0, m1, … wanted by blue, one worker, and a wire that takes a second. */
async function queued(count: number): Promise<Stage> {
  const shard = stage({ executeConcurrency: 1 });
  for (let at = 0; at < count; at++) shard.fake.addIdle(fourCores(`m${at}`));
  shard.world.wireMs = 1_000;
  shard.core.start();
  await shard.demand('blue', 4 * count);
  await shard.virtual.runFor(200);
  assert.deepEqual([shard.calls.length, shard.core.load.queuedCount], [1, count - 1]);
  return shard;
}

/** One Configured host whose drain is with its operator. */
async function waitingDrain(
  options: StageOptions = {},
): Promise<{ shard: Stage; due: ActionOrder }> {
  const shard = stage(options);
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(20_000);
  shard.world.drainStart = 'operator_first';
  await shard.demand('blue', 0);
  await shard.virtual.runFor(2_000);
  const due = shard.released.at(-1);
  assert.ok(due?.kind === ActionKind.Reclaim);
  assert.equal(shard.core.fleet.pendingOf(0), 'drain_wait');
  shard.calls.length = 0;
  return { shard, due };
}

test('fenced with orders in the queue: none of them reaches the provider', async () => {
  const shard = await queued(3);
  const [, first = ''] = shard.calls[0]?.split(' ') ?? [];
  shard.fake.failNext(first, 'configure', fenced);
  await shard.virtual.runFor(60_000);
  assert.deepEqual(shard.calls, [`configure ${first}`]);
  assert.equal(shard.core.isFenced, true);
  assert.deepEqual(
    shard.executed.map(({ outcome }) => outcome),
    ['fenced'],
  );
  const dropped = ['m0', 'm1', 'm2'].filter((id) => id !== first);
  assert.deepEqual(
    shard.withheld.slice(0, 2),
    dropped.map((id) => `suppressed ${id}`),
  );
  assert.equal(shard.core.fleet.pendingCount, 0);
  for (const id of dropped) assert.equal(shard.stateOf(id), State.Idle, id);
  await shard.stop();
});

test('fenced with calls on the wire: they end, and what they answer is a fact', async () => {
  const both = stage({ executeConcurrency: 2 });
  for (const id of ['a', 'b']) both.fake.addIdle(fourCores(id));
  both.world.wireMs = 1_000;
  both.fake.failNext('a', 'configure', fenced);
  both.core.start();
  await both.demand('blue', 8);
  await both.virtual.runFor(30_000);
  assert.deepEqual(both.calls.toSorted(), ['configure a', 'configure b']);
  assert.equal(both.stateOf('b'), State.Configured);
  assert.equal(both.stateOf('a'), State.Idle, 'as its provider says');
  assert.equal(both.core.fleet.pendingCount, 0);
  await both.stop();
});

for (const listMode of ['full', 'incremental'] as const) {
  test(`fenced with a drain that waits: its provider has the last word, ${listMode}`, async () => {
    const { shard, due } = await waitingDrain({ listMode });
    shard.fake.addIdle(fourCores('other'));
    shard.fake.failNext('other', 'configure', fenced);
    await shard.demand('green', 4);
    await shard.virtual.runFor(2_000);
    assert.equal(shard.core.isFenced, true);
    assert.ok(shard.deskCalls.includes('abandon'));
    assert.equal(shard.core.drainDue(due, 10), false);
    await shard.virtual.runFor(30_000);
    assert.deepEqual(shard.calls, ['configure other']);
    assert.equal(shard.stateOf('host'), State.Configured);
    assert.equal(shard.core.fleet.pendingCount, 0);
    assert.ok(shard.withheld.includes('suppressed host'));
    await shard.stop();
  });
}

test('fenced while paused: a resume changes nothing any more', async () => {
  const shard = await queued(2);
  const [, first = ''] = shard.calls[0]?.split(' ') ?? [];
  shard.fake.failNext(first, 'configure', fenced);
  setRails(shard, PAUSED);
  await shard.virtual.runFor(5_000);
  setRails(shard, openRails);
  await shard.virtual.runFor(60_000);
  assert.deepEqual(shard.calls, [`configure ${first}`]);
  await shard.stop();
});

for (const [name, rails, by] of holds) {
  test(`${name} with orders in the queue: they are dropped, counted, and derived again`, async () => {
    const shard = await queued(3);
    setRails(shard, rails);
    const withheld = [...shard.withheld];
    assert.equal(withheld.length, 2);
    assert.ok(withheld.every((line) => line.startsWith(`${by} `)));
    assert.equal(shard.core.load.queuedCount, 0);
    await shard.virtual.runFor(60_000);
    assert.equal(shard.calls.length, 1, 'what was on the wire, and no more');
    setRails(shard, openRails);
    await shard.virtual.runFor(30_000);
    assert.equal(shard.calls.length, 3);
    assert.equal(shard.fake.configuredCount, 3);
    await shard.stop();
  });

  test(`${name} between two steps: the machine goes back and the provider is not asked`, async () => {
    const shard = stage();
    shard.fake.addIdle(fourCores('host'));
    const blob = Promise.withResolvers<BlobAnswer>();
    let isCancelled = false;
    shard.world.pull = (_, signal) => {
      signal.addEventListener('abort', () => {
        isCancelled = true;
      });
      return blob.promise;
    };
    shard.core.start();
    await shard.demand('blue', 4);
    await shard.virtual.runFor(500);
    assert.equal(shard.stateOf('host'), State.Configuring);
    setRails(shard, rails);
    assert.equal(isCancelled, true, 'nobody asks the operator again on a reconnect');
    blob.resolve(shard.world.blob);
    await shard.virtual.runFor(500);
    assert.equal(shard.stateOf('host'), State.Idle);
    assert.deepEqual(shard.calls, []);
    assert.deepEqual(
      shard.executed.map(({ outcome }) => outcome),
      ['ctx_canceled'],
    );
    shard.world.pull = undefined;
    setRails(shard, openRails);
    await shard.virtual.runFor(20_000);
    assert.equal(shard.stateOf('host'), State.Configured);
    await shard.stop();
  });

  test(`${name} with a drain that waits: held, and finished after the resume`, async () => {
    const { shard, due } = await waitingDrain();
    setRails(shard, rails);
    assert.deepEqual(shard.deskCalls, ['hold']);
    assert.equal(shard.core.drainDue(due, 10), false);
    await shard.virtual.runFor(60_000);
    assert.deepEqual(shard.calls, []);
    assert.equal(shard.stateOf('host'), State.Draining);
    assert.equal(shard.core.fleet.pendingOf(0), 'drain_wait');
    setRails(shard, openRails);
    assert.deepEqual(shard.deskCalls, ['hold', 'resume']);
    assert.equal(shard.core.drainDue(due, 10), true);
    await shard.virtual.runFor(20_000);
    assert.deepEqual(shard.calls, ['drain host']);
    assert.equal(shard.stateOf('host'), State.Idle);
    await shard.stop();
  });

  test(`${name} with a due drain in the queue: it keeps its place`, async () => {
    const { shard, due } = await waitingDrain();
    shard.world.wireMs = 1_000;
    for (let at = 0; at < 8; at++) shard.fake.addIdle(fourCores(`m${at}`));
    await shard.demand('green', 32);
    await shard.virtual.runFor(200);
    assert.equal(shard.core.load.runningCount, 8);
    assert.equal(shard.core.drainDue(due, 10), true);
    setRails(shard, rails);
    assert.equal(shard.core.load.queuedCount, 1);
    await shard.virtual.runFor(30_000);
    assert.equal(shard.calls.includes('drain host'), false);
    setRails(shard, openRails);
    await shard.virtual.runFor(30_000);
    assert.equal(shard.calls.includes('drain host'), true);
    assert.equal(shard.stateOf('host'), State.Idle);
    await shard.stop();
  });

  test(`${name}: a slot that becomes a host goes no further`, async () => {
    const shard = stage({ isInstant: true });
    shard.fake.addSpeculative(fourCores('slot'));
    shard.world.wireMs = 1_000;
    shard.core.start();
    await shard.demand('blue', 4);
    await shard.virtual.runFor(500);
    setRails(shard, rails);
    await shard.virtual.runFor(20_000);
    assert.deepEqual(shard.calls, ['create slot']);
    assert.equal(shard.stateOf('slot'), State.Idle);
    assert.deepEqual(
      shard.executed.map(({ outcome }) => outcome),
      ['success'],
    );
    await shard.stop();
  });
}

test('dry run alone: every cycle says the same, nothing is done, and no cycle follows another', async () => {
  const shard = stage();
  for (const id of ['a', 'b', 'c']) shard.fake.addIdle(fourCores(id));
  shard.world.rails = { ...DRY, maxActionsPerCycle: 1 };
  shard.core.start();
  await shard.demand('blue', 12);
  await shard.virtual.runFor(60_000);
  assert.deepEqual([shard.calls, shard.executed, shard.drains], [[], [], []]);
  // One at the start, one for the demand, one every ten seconds.
  assert.ok(shard.core.cycleCount <= 9, `${shard.core.cycleCount} cycles`);
  assert.ok(shard.core.cycleCount >= 6, `${shard.core.cycleCount} cycles`);
  const decided = shard.cycles.filter(({ answer }) => answer.actions.count > 0);
  assert.ok(decided.length >= 6);
  for (const { disposition } of decided) {
    assert.deepEqual(
      [disposition.withheldCount, disposition.truncatedCount, disposition.emitted[1]],
      [3, 0, 0],
    );
  }
  assert.deepEqual([...new Set(shard.withheld)].toSorted(), ['dryrun a', 'dryrun b', 'dryrun c']);
  await shard.stop();
});

test('an order from outside a cycle is not taken while actuation is held', async () => {
  const { shard, due } = await waitingDrain();
  const { core } = shard;
  shard.fake.addIdle(fourCores('other'));
  setRails(shard, PAUSED);
  await shard.virtual.runFor(15_000);
  const slot = core.fleet.inventory.slotOf('other');
  const handle = core.fleet.handleOf(slot);
  const order = { ...due, kind: ActionKind.Delete, machineId: 'other', handle };
  assert.equal(core.offer(order), false);
  setRails(shard, openRails);
  assert.equal(core.offer(order), true);
  await shard.stop();
});

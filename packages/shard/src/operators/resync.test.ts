// Proves the replay after a hello: every machine of that cluster and no other, then the barrier,
// with newer states instead of older ones, in slices that let others in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterId } from '@bigfleet/base';
import { State } from '@bigfleet/engine';
import type { OperatorSession } from '../session/session.ts';
import { Resync } from '../session/resync.ts';
import { Stage } from './testing/stage.ts';

test('a reconnect replays the machines of its cluster, then says that it is complete', async () => {
  const stage = new Stage('replay');
  for (const id of ['b1', 'b2']) stage.machines.put(id, { cluster: 'blue' });
  stage.machines.put('g1', { cluster: 'green' });
  stage.machines.put('free', { cluster: '', state: State.Idle });
  const operator = await stage.connect('blue');
  assert.deepEqual(
    operator.frames.map((frame) =>
      frame.case === 'ack'
        ? frame.value.echo
        : frame.case === 'nodeStateUpdate'
          ? frame.value.machineId
          : frame.case,
    ),
    ['hello', 'b1', 'b2', 'resync'],
  );
});

/** Event by event, up to the one that opened the session and ran the first slice of its replay. */
async function untilOpen(stage: Stage): Promise<void> {
  for (let events = 0; stage.operators.sessions.size === 0; events++) {
    assert.ok(events < 1_000, 'the session never opened');
    await stage.time.runUntilIdle({ maxEvents: 1, maxMs: 1_000 });
  }
}

test('an empty cluster gets the barrier too', async () => {
  const stage = new Stage('empty');
  assert.deepEqual((await stage.connect('blue')).echoes, ['hello', 'resync']);
});

test('the barrier waits until every provider was listed: machines are unknown till then, not gone', async () => {
  const stage = new Stage('unlisted');
  stage.isInventoryWhole = false;
  stage.machines.put('early', { cluster: 'blue' });
  const operator = await stage.connect('blue');
  const leaver = await stage.connect('green');
  leaver.leave();
  stage.operators.cycled();
  await stage.settle();
  const seen = (): readonly string[] =>
    operator.all('nodeStateUpdate').map(({ machineId }) => machineId);
  assert.deepEqual([operator.echoes, seen()], [['hello'], ['early']]);
  stage.operators.nodeStates.changed(stage.machines.put('late', { cluster: 'blue' }), '');
  stage.isInventoryWhole = true;
  for (let cycle = 0; cycle < 2; cycle++) stage.operators.cycled();
  await stage.settle();
  assert.deepEqual(operator.echoes, ['hello', 'resync']);
  assert.deepEqual(seen(), ['early', 'late']);
  assert.equal(operator.frames.at(-1)?.case, 'ack', 'the barrier is the last');
  assert.deepEqual(stage.bugs, []);
});

test('what changes during a long replay is newest when the barrier comes', async () => {
  const stage = new Stage('long');
  for (let i = 0; i < 1_000; i++) stage.machines.put(`m${i}`, { cluster: 'blue' });
  const operator = stage.dial('blue').hello('blue');
  await untilOpen(stage);
  assert.ok((await stage.metric('outbox_frames')) <= 201, 'the replay is under way, not over');
  const { nodeStates } = stage.operators;
  nodeStates.changed(stage.machines.move('m999', State.Idle, ''), 'blue');
  nodeStates.changed(stage.machines.move('m998', State.Draining, 'blue'), 'blue');
  nodeStates.changed(stage.machines.move('m997', State.Configured, 'green'), 'blue');
  nodeStates.changed(stage.machines.put('new', { state: State.Configuring }), '');
  await stage.time.runFor(2_000);
  const updates = operator.all('nodeStateUpdate');
  const last = new Map(updates.map((update) => [update.machineId, update.state]));
  assert.equal(last.size, 1_001);
  assert.equal(last.get('m999'), State.Idle);
  assert.equal(last.get('m998'), State.Draining);
  assert.equal(last.get('m997'), State.Idle, "another cluster's machine is not replayed");
  assert.equal(last.get('new'), State.Configuring);
  const barrierAt = operator.frames.findIndex(
    (frame) => frame.case === 'ack' && frame.value.echo === 'resync',
  );
  const beforeBarrier = new Set(
    operator.frames
      .slice(0, barrierAt)
      .flatMap((frame) => (frame.case === 'nodeStateUpdate' ? [frame.value.machineId] : [])),
  );
  for (let i = 0; i < 1_000; i++) assert.ok(beforeBarrier.has(`m${i}`), `m${i}`);
});

test('a large cluster does not hold up a small one that came later', async () => {
  const order: string[] = [];
  let turnCount = 0;
  const works: Promise<void>[] = [];
  const resync = new Resync({
    runtime: {
      timers: {
        after: () => assert.fail('a replay waits for turns only'),
        turn: () => {
          turnCount++;
          return Promise.resolve();
        },
      },
    },
    ackStamp: () => ({ coordinatorTerm: 0n, shardEpoch: 0n }),
    isInventoryWhole: () => true,
    machines: {
      idsBoundTo: (cluster) =>
        Array.from({ length: cluster === 'big' ? 20_000 : 3 }, () => cluster),
    },
    replay: (_session, machineId) => order.push(machineId),
    supervise: (_component, work) => works.push(work),
  });
  for (const cluster of ['big', 'small']) resync.start(recorder(cluster, order));
  await Promise.all(works);
  assert.equal(order.length, 20_003 + 2);
  assert.ok(order.indexOf('end of small') < 500, 'after the first slice of the large one');
  assert.equal(order.at(-1), 'end of big');
  assert.ok(turnCount >= 20_000 / 200, 'the event loop gets its turns');
});

function recorder(cluster: string, order: string[]): OperatorSession {
  const parsed = parseClusterId(cluster);
  assert.ok(parsed.ok);
  return {
    cluster: parsed.value,
    isOpen: true,
    has: () => false,
    deliver: () => assert.fail('a replay delivers nothing'),
    post: () => assert.fail('the frames are built elsewhere'),
    barrier: () => order.push(`end of ${cluster}`),
  };
}

test('a session that ends during its replay ends the replay', async () => {
  const stage = new Stage('gone');
  for (let i = 0; i < 5_000; i++) stage.machines.put(`m${i}`, { cluster: 'blue' });
  stage.dial('blue').hello('blue');
  await untilOpen(stage);
  stage.operators.sessions.sessionOf('blue')?.close();
  assert.equal(await stage.metric('outbox_frames'), 0);
  await stage.time.runFor(10_000);
  assert.equal(await stage.metric('outbox_frames'), 0);
  stage.assertNoBugs();
});

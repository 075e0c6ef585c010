// Proves the slow-consumer rules: a stalled reader costs a bounded outbox, holds up nobody, and is
// ended with RESOURCE_EXHAUSTED; a slow but living one is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { RpcError } from '@bigfleet/wire';
import { Stage } from './testing/stage.ts';
import { TestOperator } from '../session/testing/test-operator.ts';

const LONG = 'x'.repeat(4_000);

/** More than the transport holds for a peer that does not read. */
function flood(stage: Stage, cluster: string, machineCount: number): void {
  for (let i = 0; i < machineCount; i++) {
    const id = `${cluster}-${i}`;
    const view = stage.machines.put(id, { cluster, labels: new Map([['long', LONG]]) });
    stage.operators.nodeStates.changed(view, cluster);
  }
}

test('a stalled reader is ended after sixty seconds without progress; others notice nothing', async () => {
  const stage = new Stage('stalled');
  const stalled = await stage.connect('stalled');
  const healthy = await stage.connect('healthy');
  stalled.stopReading();
  flood(stage, 'stalled', 100);
  flood(stage, 'healthy', 100);
  await stage.time.runFor(1_000);
  assert.equal(healthy.all('nodeStateUpdate').length, 100);
  assert.ok((await stage.metric('outbox_frames')) > 50);
  await stage.time.runFor(58_000);
  assert.equal(stage.operators.sessions.size, 2);
  await stage.time.runFor(2_000);
  assert.equal(stage.operators.sessions.sessionOf('stalled'), undefined);
  assert.equal(await stage.metric('sessions_stalled_total'), 1);
  assert.equal(await stage.metric('outbox_frames'), 0);
  assert.equal(healthy.ending, undefined);
  // The status waits behind what the transport already holds, and is there when it reads again.
  stalled.resumeReading();
  await stage.time.runFor(1_000);
  assert.ok(stalled.ending instanceof RpcError);
  assert.equal(stalled.ending.code, 'RESOURCE_EXHAUSTED');
  stage.assertNoBugs();
});

test('frames of an ended session that the operator still sends have no effect', async () => {
  const stage = new Stage('deaf');
  const stalled = await stage.connect('stalled');
  stalled.stopReading();
  flood(stage, 'stalled', 100);
  await stage.time.runFor(62_000);
  assert.equal(stage.operators.sessions.size, 0);
  stalled.send({ case: 'rollup', value: { clusterId: 'stalled', needs: [] } });
  await stage.time.runFor(1_000);
  assert.deepEqual(stage.engine.submitted, []);
});

test('a reader that takes one frame now and then lives', async () => {
  const stage = new Stage('slow');
  const slow = await stage.connect('slow');
  slow.stopReading();
  flood(stage, 'slow', 60);
  for (let minute = 0; minute < 8; minute++) {
    await stage.time.runFor(45_000);
    slow.resumeReading();
    await stage.time.runFor(2);
    slow.stopReading();
    assert.equal(stage.operators.sessions.size, 1, `after ${minute} minutes`);
    flood(stage, 'slow', 60);
  }
});

test('updates of one machine coalesce to the newest, in the place of the first', async () => {
  const stage = new Stage('coalesce');
  const operator = await stage.connect('blue');
  operator.stopReading();
  flood(stage, 'blue', 40);
  await stage.time.runFor(100);
  for (const state of [State.Draining, State.Configured, State.Draining] as const) {
    for (let i = 0; i < 40; i++) {
      stage.operators.nodeStates.changed(stage.machines.move(`blue-${i}`, state, 'blue'), 'blue');
    }
  }
  assert.ok((await stage.metric('outbox_coalesced_total')) >= 60);
  assert.ok((await stage.metric('outbox_frames')) <= 40);
  operator.resumeReading();
  await stage.time.runFor(1_000);
  const last = new Map(operator.all('nodeStateUpdate').map((u) => [u.machineId, u.state]));
  assert.equal(last.size, 40);
  assert.ok([...last.values()].every((state) => state === State.Draining));
});

test('too many must-deliver frames end the session at once', async () => {
  const stage = new Stage('overflow');
  const operator = new TestOperator(stage.channel('blue'));
  operator.hello('blue');
  await stage.settle();
  operator.stopReading();
  for (let at = 0; at < 1_500; at++) {
    stage.operators.drains.begin({
      kind: 'Reclaim',
      machineId: `m${at}`,
      cluster: 'blue',
      graceSeconds: 600,
      preemptorPriority: 0,
      reasonCode: LONG,
    });
  }
  await stage.time.runFor(2_000);
  assert.equal(stage.operators.sessions.size, 0);
  assert.equal(await stage.metric('sessions_stalled_total'), 1);
  stage.assertNoBugs();
});

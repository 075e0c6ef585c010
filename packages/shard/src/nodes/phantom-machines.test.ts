// Proves what a shard makes of reported phantom machines (wire-additions §2): shown with the session that
// reported them, the cluster's own and no other's, bounded, gone with the session, and without any effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';
import { MAX_PHANTOMS } from './phantom-machines.ts';

const DROPPED = 'session_frames_dropped_total';
const FOREIGN = 'reason="foreign_node_identity"';

function blueAndGreen(seed: string): Stage {
  const stage = new Stage(seed);
  for (const id of ['m1', 'm2', 'm3']) stage.machines.put(id);
  stage.machines.put('g1', { cluster: 'green' });
  stage.machines.put('idle', { cluster: '', state: State.Idle });
  return stage;
}

async function report(stage: Stage, to: TestOperator, ids: readonly string[]): Promise<void> {
  to.send({ case: 'nodeIdentity', value: { phantomMachineIds: [...ids] } });
  await stage.settle();
}

/** By cluster, as ListSessions would show them. */
function shown({ operators }: Stage): Record<string, readonly string[]> {
  const rows = Array.from(operators.summaries(), ({ session, phantomMachineIds }) => [
    session.cluster,
    phantomMachineIds(),
  ]);
  return Object.fromEntries(rows) as Record<string, readonly string[]>;
}

test('every report replaces the set of its own session', async () => {
  const stage = blueAndGreen('replaces');
  const blue = await stage.connect('blue');
  const green = await stage.connect('green');
  assert.deepEqual(shown(stage), { blue: [], green: [] });
  await report(stage, blue, ['m1', 'm2']);
  await report(stage, green, ['g1']);
  assert.deepEqual(shown(stage), { blue: ['m1', 'm2'], green: ['g1'] });
  await report(stage, blue, ['m3']);
  assert.deepEqual(shown(stage), { blue: ['m3'], green: ['g1'] });
  await report(stage, blue, []);
  assert.deepEqual(shown(stage), { blue: [], green: ['g1'] });
});

test('the set ends with its session: the next one has none until it reports', async () => {
  const stage = blueAndGreen('ends');
  const first = await stage.connect('blue');
  await report(stage, first, ['m1']);
  const second = stage.dial('blue-2').hello('blue', ['node-identity']);
  await stage.settle();
  assert.deepEqual(shown(stage), { blue: [] }, 'replaced');
  await report(stage, second, ['m2']);
  second.leave();
  await stage.settle();
  assert.deepEqual(shown(stage), {});
  await stage.connect('blue');
  assert.deepEqual(shown(stage), { blue: [] }, 'reconnected');
});

test('nonsense is dropped and counted; the good ids beside it are shown once, sorted', async () => {
  const stage = blueAndGreen('nonsense');
  const blue = await stage.connect('blue');
  await report(stage, blue, ['m2', 'g1', '', 'idle', 'm1', 'nobody', 'm2', 'm'.repeat(1_025)]);
  assert.deepEqual(shown(stage), { blue: ['m1', 'm2'] });
  assert.equal(await stage.metric(DROPPED, FOREIGN), 5);
  stage.assertNoBugs();
});

test('a set beyond its bound changes nothing, and the names beside it count', async () => {
  const stage = blueAndGreen('oversized');
  const blue = await stage.connect('blue');
  await report(stage, blue, ['m1']);
  const phantomMachineIds = Array.from({ length: MAX_PHANTOMS + 1 }, () => 'm2');
  const nodes = [{ machineId: 'm2', nodeName: 'node-2' }];
  blue.send({ case: 'nodeIdentity', value: { nodes, phantomMachineIds } });
  await stage.settle();
  assert.deepEqual(shown(stage), { blue: ['m1'] });
  assert.equal(stage.operators.nodeNames.nameOf('m2'), 'node-2');
  const dropped = await stage.metric(DROPPED, 'reason="oversized_node_identity"');
  assert.equal(dropped, MAX_PHANTOMS + 1);
  await report(stage, blue, phantomMachineIds.slice(1));
  assert.deepEqual(shown(stage), { blue: ['m2'] }, 'as many as fit are taken');
});

test('a machine that left the cluster is not shown any more', async () => {
  const stage = blueAndGreen('left');
  const blue = await stage.connect('blue');
  await report(stage, blue, ['m1', 'm2']);
  stage.machines.move('m1', State.Idle, '');
  assert.deepEqual(shown(stage), { blue: ['m2'] });
  stage.machines.move('m2', State.Configured, 'green');
  assert.deepEqual(shown(stage), { blue: [] });
});

test('a shard that knows no machine yet shows the set when it does', async () => {
  const stage = new Stage('young');
  stage.isInventoryWhole = false;
  const blue = await stage.connect('blue');
  await report(stage, blue, ['m1', 'g1']);
  assert.deepEqual(shown(stage), { blue: [] });
  assert.equal(await stage.metric(DROPPED, FOREIGN), 0, 'not foreign, only not known yet');
  stage.machines.put('m1');
  stage.machines.put('g1', { cluster: 'green' });
  stage.isInventoryWhole = true;
  assert.deepEqual(shown(stage), { blue: ['m1'] });
});

test('nothing is done because of a phantom', async () => {
  const stage = blueAndGreen('nothing');
  const blue = await stage.connect('blue');
  await stage.time.runFor(60_000);
  const framesBefore = blue.frames.length;
  await report(stage, blue, ['m1', 'm2', 'm3']);
  await stage.time.runFor(60_000);
  assert.deepEqual([stage.fired, stage.changedDemand], [[], []]);
  assert.equal(blue.frames.length, framesBefore);
});

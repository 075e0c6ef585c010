// Proves roll-up ingest on the main thread: newest wins while the worker is busy, nothing slow holds
// up the fast lane, unchanged ones are skipped by digest, refused ones change nothing, and each
// verdict has its ack, its counter and its log line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasSeries } from '../session/testing/metric-reader.ts';
import { type RollupShape, rollup, Stage } from '../operators/testing/stage.ts';
import type { TestOperator } from '../session/testing/test-operator.ts';

const QUARANTINED = 'rollup_quarantined';

function report(operator: TestOperator, shape: RollupShape): void {
  operator.send({ case: 'rollup', value: rollup(shape) });
}

async function outcomes(stage: Stage): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const outcome of ['applied', 'unchanged', 'held', 'rejected']) {
    counted[outcome] = await stage.metric('rollups_total', `outcome="${outcome}"`);
  }
  return counted;
}

test('an applied roll-up is acknowledged and wakes the cycle', async () => {
  const stage = new Stage('applied');
  const operator = await stage.connect('blue');
  report(operator, { clusterId: 'blue', needCount: 3 });
  await stage.settle();
  assert.deepEqual(operator.echoes.slice(2), ['rollup']);
  assert.deepEqual(stage.changedDemand, ['blue']);
  assert.equal(stage.engine.submitted[0]?.needCount, 3);
  const { firstRollupReceived, rowCount } = stage.operators.rollups.view('blue');
  assert.deepEqual([firstRollupReceived, rowCount], [true, 3]);
});

test('three roll-ups while the worker is busy: the first and the last are applied', async () => {
  const stage = new Stage('busy');
  const operator = await stage.connect('blue');
  stage.engine.hold();
  for (const needCount of [1, 2, 3, 4]) report(operator, { needCount });
  await stage.settle();
  assert.deepEqual(
    stage.engine.submitted.map(({ needCount }) => needCount),
    [1],
  );
  stage.engine.release();
  await stage.settle();
  assert.deepEqual(
    stage.engine.submitted.map(({ needCount }) => needCount),
    [1, 4],
  );
  assert.deepEqual(operator.echoes.slice(2), ['rollup', 'rollup']);
});

test('a slow roll-up does not delay a bootstrap response', async () => {
  const stage = new Stage('lanes');
  const operator = await stage.connect('blue');
  stage.engine.hold();
  report(operator, { needCount: 5 });
  const { signal } = new AbortController();
  const pull = { cluster: 'blue', machineId: 'm', fingerprint: 'f', requirements: [], signal };
  const pulled = stage.operators.bootstrap.pull(pull);
  await stage.settle();
  const requestId = operator.all('bootstrapRequest')[0]?.requestId ?? '';
  operator.send({ case: 'bootstrapResponse', value: { requestId, userData: Uint8Array.of(1) } });
  await stage.settle();
  assert.equal((await pulled).kind, 'blob');
  assert.deepEqual(await outcomes(stage), { applied: 0, unchanged: 0, held: 0, rejected: 0 });
});

test('an unchanged roll-up is skipped by digest although its timestamp moved', async () => {
  const stage = new Stage('unchanged');
  const operator = await stage.connect('blue');
  report(operator, { timestamp: 1n });
  await stage.settle();
  report(operator, { timestamp: 2n });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 1);
  assert.deepEqual(stage.engine.unchangedClusters, ['blue']);
  assert.deepEqual(stage.changedDemand, ['blue']);
  assert.deepEqual(operator.echoes.slice(2), ['rollup', 'rollup']);
  assert.deepEqual(await outcomes(stage), { applied: 1, unchanged: 1, held: 0, rejected: 0 });
  // Also for the next session of the cluster: the table did not change meanwhile.
  const successor = stage.dial('blue-2').hello('blue');
  report(successor, { timestamp: 3n });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 1);
  assert.ok(successor.echoes.includes('rollup'));
});

test('the digest of a refused or held roll-up is not the accepted one', async () => {
  const stage = new Stage('not-accepted');
  const operator = await stage.connect('blue');
  stage.engine.script.push(
    { kind: 'rejected', code: 'bad_quantity', detail: 'needs[0].minUnit[cpu]' },
    { kind: 'held', rows: 1, previousRows: 20, consecutive: 1 },
  );
  for (let i = 0; i < 3; i++) {
    report(operator, { cpu: 'same' });
    await stage.settle();
  }
  assert.equal(stage.engine.submitted.length, 3);
  assert.deepEqual(operator.echoes.slice(2), ['rollup-held', 'rollup']);
});

test('a refused roll-up gets no ack, keeps the demand and the first-roll-up flag', async () => {
  const stage = new Stage('rejected');
  const operator = await stage.connect('blue');
  stage.engine.script.push({ kind: 'rejected', code: 'bad_bucket', detail: 'needs[2] 28' });
  report(operator, {});
  await stage.settle();
  assert.deepEqual(operator.echoes, ['hello', 'resync']);
  assert.equal(stage.operators.rollups.view('blue').firstRollupReceived, false);
  assert.deepEqual(stage.changedDemand, []);
  assert.equal(await stage.metric('rollups_rejected_total', 'cluster="blue"'), 1);
  const [line = ''] = stage.logged('rollup rejected at ingest validation');
  assert.match(line, /level=ERROR.*cluster=blue.*code=bad_bucket/);
});

test('a held roll-up is acknowledged as held, shown, and cleared by what follows', async () => {
  const stage = new Stage('held');
  const operator = await stage.connect('blue');
  report(operator, { needCount: 20 });
  await stage.settle();
  stage.engine.script.push({ kind: 'held', rows: 1, previousRows: 20, consecutive: 1 });
  report(operator, { needCount: 1 });
  await stage.settle();
  assert.equal(await stage.metric(QUARANTINED, 'cluster="blue"'), 1);
  assert.equal(operator.echoes.at(-1), 'rollup-held');
  assert.deepEqual(stage.changedDemand, ['blue']);
  assert.match(
    stage.logged('rollup quarantined')[0] ?? '',
    /previous_rows=20 new_rows=1 held_consecutive=1 accepted_after=3/,
  );
  // The same as accepted before: the streak is over, and the sink hears of it.
  report(operator, { needCount: 20 });
  await stage.settle();
  assert.equal(await stage.metric(QUARANTINED, 'cluster="blue"'), 0);
  assert.deepEqual(stage.engine.unchangedClusters, ['blue']);
  stage.engine.script.push({
    kind: 'applied',
    rows: 1,
    previousRows: 20,
    confirmedAfter: 3,
    demand: undefined,
  });
  report(operator, { needCount: 1 });
  await stage.settle();
  assert.match(stage.logged('quarantined rollup accepted')[0] ?? '', /consecutive_reports=3/);
});

test('a sink that fails costs the ack of one roll-up', async () => {
  const stage = new Stage('sink-fails');
  const operator = await stage.connect('blue');
  stage.engine.script.push(new Error('the worker is gone'));
  report(operator, { needCount: 1 });
  await stage.settle();
  report(operator, { needCount: 2 });
  await stage.settle();
  assert.deepEqual(operator.echoes.slice(2), ['rollup']);
  assert.equal(stage.logged('rollup hand-over failed').length, 1);
  stage.assertNoBugs();
});

test('a reconnect waits for the roll-up of the old session before it compares digests', async () => {
  const stage = new Stage('race');
  const old = await stage.connect('blue');
  report(old, { needCount: 1 });
  await stage.settle();
  stage.engine.hold();
  report(old, { needCount: 2 });
  await stage.settle();
  const successor = stage.dial('blue-2').hello('blue');
  report(successor, { needCount: 1 });
  await stage.settle();
  stage.engine.release();
  await stage.settle();
  // Skipped as unchanged, it would have left the demand of the second roll-up in the table.
  assert.deepEqual(
    stage.engine.submitted.map(({ needCount }) => needCount),
    [1, 2, 1],
  );
  assert.ok(successor.echoes.includes('rollup'));
});

test('after a forget the same roll-up is applied anew, also if one was under way', async () => {
  const stage = new Stage('forget');
  const operator = await stage.connect('blue');
  report(operator, { timestamp: 1n });
  await stage.settle();
  stage.operators.forget('blue');
  report(operator, { timestamp: 2n });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 2);
  stage.engine.hold();
  report(operator, { cpu: 'other' });
  await stage.settle();
  stage.operators.forget('blue');
  stage.engine.release();
  await stage.settle();
  report(operator, { cpu: 'other' });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 4);
});

test('the series of a cluster end one hour after its session', async () => {
  const stage = new Stage('series');
  const operator = await stage.connect('blue');
  report(operator, { clusterId: 'green' });
  await stage.settle();
  operator.leave();
  await stage.time.runFor(3_500_000);
  const name = 'bigfleet_shard_rollups_rejected_total';
  assert.ok(await hasSeries(stage.registry, name, 'cluster="blue"'));
  await stage.connect('blue');
  stage.network.apply({ kind: 'crash', host: 'blue' });
  await stage.time.runFor(3_500_000);
  assert.ok(await hasSeries(stage.registry, name, 'cluster="blue"'), 'counted from the last end');
  await stage.time.runFor(200_000);
  assert.ok(!(await hasSeries(stage.registry, name, 'cluster="blue"')));
});

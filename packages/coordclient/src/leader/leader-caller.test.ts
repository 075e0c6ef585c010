// Proves that a report finds the leader (coordinator §4.2): by the hint of a follower, or by trying
// every address once within the same tick, and that it stays there until the leader refuses or is
// gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { ClientStage } from '../testing/client-stage.ts';

const LEADING = () => ({ coordinatorTerm: 1n, acknowledged: true });

test('a hint is followed in the same tick, and the leader is remembered', async () => {
  const stage = new ClientStage();
  const follower = stage.coordinator('coord-0').follow('coord-9:7790');
  const leader = stage.coordinator('coord-9');
  stage.addresses = [follower.address];
  await stage.start();
  assert.deepEqual([follower.reports.length, leader.reports.length], [1, 1]);
  await stage.ticks(3);
  assert.deepEqual([follower.reports.length, leader.reports.length], [1, 4]);
  assert.equal(stage.resolved.length, 1, 'nobody is asked for names while the leader answers');
  await stage.stop();
});

test('without a hint every address is tried once, in the same tick', async () => {
  for (const seed of ['1', '2', '3', '4']) {
    const stage = new ClientStage({ seed });
    const followers = ['coord-0', 'coord-1', 'coord-2'].map((host) =>
      stage.coordinator(host).follow(),
    );
    const leader = stage.coordinator('coord-3');
    await stage.start();
    assert.equal(leader.reports.length, 1);
    for (const { reports } of followers) assert.ok(reports.length <= 1);
    await stage.stop();
  }
});

test('the order is random: not every shard asks the same replica first', async () => {
  const first = new Set<string>();
  for (let seed = 0; seed < 12; seed++) {
    const stage = new ClientStage({ seed: String(seed) });
    const replicas = ['coord-0', 'coord-1', 'coord-2'].map((host) => stage.coordinator(host));
    await stage.start();
    first.add(replicas.find(({ reports }) => reports.length > 0)?.address ?? '');
    await stage.stop();
  }
  assert.equal(first.size, 3);
});

test('a leader that steps down is left for the one it names', async () => {
  const stage = new ClientStage();
  const old = stage.coordinator('coord-0');
  await stage.start();
  const next = stage.coordinator('coord-1');
  old.follow('coord-1:7790');
  await stage.ticks(1);
  assert.equal(next.reports.length, 1);
  await stage.ticks(1);
  assert.deepEqual([old.reports.length, next.reports.length], [2, 2]);
  await stage.stop();
});

test('a leader that is gone is replaced, by names that are asked again', async () => {
  const stage = new ClientStage();
  const old = stage.coordinator('coord-0');
  await stage.start();
  stage.network.apply({ kind: 'crash', host: 'coord-0' });
  const next = stage.coordinator('coord-1');
  stage.addresses = [next.address];
  await stage.ticks(1);
  assert.equal(old.reports.length, 1);
  assert.equal(next.reports.length, 1, 'within the same tick');
  assert.equal(stage.resolved.length, 2);
  await stage.stop();
});

test('a black hole costs a share of the tick, not the tick', async () => {
  const stage = new ClientStage();
  const old = stage.coordinator('coord-0');
  await stage.start();
  old.script = () => undefined;
  const next = stage.coordinator('coord-1');
  await stage.time.runFor(15_000);
  assert.equal(next.reports.length, 1);
  await stage.stop();
});

test('replicas that name each other end the tick, and are complained about once a minute', async () => {
  const stage = new ClientStage();
  const a = stage.coordinator('coord-0').follow('coord-1:7790');
  const b = stage.coordinator('coord-1').follow('coord-0:7790');
  await stage.start();
  assert.deepEqual([a.reports.length, b.reports.length], [1, 1]);
  await stage.ticks(5);
  assert.equal(stage.logged('ReportShard failed').length, 1);
  await stage.ticks(3);
  assert.equal(stage.logged('ReportShard failed').length, 2);
  assert.equal(await stage.metric('coordinator_report_total{outcome="error"}'), 9);
  await stage.stop();
});

test('a refusal by the leader itself is not shopped around', async () => {
  const stage = new ClientStage();
  const leader = stage.coordinator('coord-0');
  await stage.start();
  const other = stage.coordinator('coord-1');
  leader.script = () => {
    throw new RpcError('PERMISSION_DENIED', 'not your shard id');
  };
  await stage.ticks(2);
  assert.equal(other.reports.length, 0);
  assert.equal(stage.logged('ReportShard failed').length, 2, 'each time');
  leader.script = LEADING;
  await stage.ticks(1);
  assert.equal(leader.reports.length, 4);
  await stage.stop();
});

test('an answer under an old term makes it look for another leader', async () => {
  const stage = new ClientStage({ term: '9' });
  const zombie = stage.coordinator('coord-0');
  await stage.start();
  const leader = stage.coordinator('coord-1');
  stage.addresses = [leader.address];
  leader.script = () => ({ coordinatorTerm: 9n, acknowledged: true });
  await stage.ticks(2);
  assert.equal(zombie.reports.length, 1);
  assert.equal(leader.reports.length, 2);
  await stage.stop();
});

test('a report that was heard but not answered is followed by a newer one', async () => {
  const stage = new ClientStage();
  const coordinator = stage.coordinator('coord-0');
  coordinator.script = () => {
    throw new RpcError('UNAVAILABLE', 'outcome unknown; safe to retry');
  };
  await stage.start();
  coordinator.script = LEADING;
  await stage.ticks(1);
  const cycles = coordinator.reports.map(({ cycle }) => cycle);
  assert.deepEqual(
    cycles,
    [...cycles].sort((x, y) => Number(x - y)),
  );
  assert.equal(new Set(cycles).size, cycles.length);
  await stage.stop();
});

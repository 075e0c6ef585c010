// Proves the life of a replica: it leads, loses, campaigns again with a higher term; probes and
// gauges follow on leaders and followers; an empty store waits; a stop hands over at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoordinatorStage, type StagedReplica } from '../process/testing/coordinator-stage.ts';

async function metric(replica: StagedReplica, name: string): Promise<string> {
  for (const family of replica.registry.snapshot().families) {
    for await (const text of family.format()) {
      for (const line of text.split('\n')) {
        if (line.startsWith(`bigfleet_coordinator_${name} `)) return line.split(' ')[1] ?? '';
      }
    }
  }
  return 'absent';
}

test('the first replica leads and is ready; the second follows and is ready too', async () => {
  const stage = new CoordinatorStage();
  const first = await stage.start('node-0');
  const second = await stage.start('node-1');
  await stage.time.runFor(1_100);
  assert.ok(first.replica.leading() !== undefined);
  assert.equal(second.replica.leading(), undefined);
  for (const each of [first, second]) {
    assert.deepEqual(each.readiness.state(), { ready: true });
    assert.equal(await metric(each, 'raft_term'), '1');
  }
  assert.equal(await metric(first, 'is_leader'), '1');
  assert.equal(await metric(second, 'is_leader'), '0');
});

test('a stopped leader hands over at once, and the term rises', async () => {
  const stage = new CoordinatorStage();
  const first = await stage.start('node-0');
  const second = await stage.start('node-1');
  const stopping = first.replica.stop();
  await stage.time.runFor(100);
  await stopping;
  assert.equal(second.replica.leading()?.leadership.term, 2n);
  assert.equal(second.replica.observed().leader?.nodeId, 'node-1');
  assert.deepEqual([...first.bugs, ...second.bugs], []);
});

test('a deposed leader leads no more from that instant, and campaigns again', async () => {
  const stage = new CoordinatorStage();
  const only = await stage.start('node-0');
  const before = only.replica.leading();
  assert.ok(before !== undefined);
  stage.disk.depose();
  await stage.time.runFor(1);
  assert.equal(only.replica.leading(), undefined);
  await stage.time.runFor(3_000);
  assert.equal(only.replica.leading()?.leadership.term, 2n);
  assert.notEqual(only.replica.leading(), before);
});

test('a term seen above ours is exceeded by the next leadership, at once', async () => {
  const stage = new CoordinatorStage();
  const only = await stage.start('node-0');
  const reply = stage
    .coordinator(only)
    .reportShard({ shardId: 'shard-a', shardEpoch: 1n, cycle: 1n, observedCoordinatorTerm: 41n });
  await assert.rejects(stage.run(reply), /not leader/);
  const term = only.replica.leading()?.leadership.term ?? 0n;
  assert.ok(term > 41n, `term ${term}`);
});

test('an empty store without bootstrap: not ready, says why, and leads once it is filled', async () => {
  const stage = new CoordinatorStage();
  const empty = await stage.start('node-1', { bootstrap: false });
  await stage.time.runFor(1_100);
  assert.deepEqual(empty.readiness.state(), {
    ready: false,
    reason: 'store is empty and --bootstrap is not set',
  });
  const warned = stage.log.lines.filter((line) => line.includes('msg="not leading"'));
  assert.equal(warned.length, 1);
  assert.match(warned[0] ?? '', /reason="store is empty and --bootstrap is not set"/);
  const filled = await stage.start('node-0');
  await stage.run(
    stage.coordinator(filled).reportShard({ shardId: 'shard-a', shardEpoch: 1n, cycle: 1n }),
  );
  const stopping = filled.replica.stop();
  await stage.time.runFor(3_000);
  await stopping;
  assert.ok(empty.replica.leading() !== undefined);
  assert.deepEqual(empty.readiness.state(), { ready: true });
});

test('the term that is shown never falls: without a leader it is the last one', async () => {
  const stage = new CoordinatorStage();
  const first = await stage.start('node-0');
  const second = await stage.start('node-1');
  const stopping = first.replica.stop();
  await stage.time.runFor(1_100);
  await stopping;
  assert.equal(await metric(second, 'raft_term'), '2');
  // As on every follower while an election is on.
  second.store.leader = () => Promise.resolve(undefined);
  await stage.time.runFor(1_100);
  assert.deepEqual(second.readiness.state(), { ready: false, reason: 'no raft leader observed' });
  assert.equal(await metric(second, 'raft_term'), '2');
});

test('an alarm of the store is a gauge and a detail of readiness, not the loss of it', async () => {
  const stage = new CoordinatorStage();
  const only = await stage.start('node-0');
  only.store.alarms.push('etcd NOSPACE on 8e9e05c52164694d');
  await stage.time.runFor(1_100);
  assert.deepEqual(only.readiness.state(), {
    ready: true,
    detail: 'etcd NOSPACE on 8e9e05c52164694d',
  });
  assert.equal(await metric(only, 'store_alarms'), '1');
  only.store.alarms.length = 0;
  await stage.time.runFor(1_100);
  assert.deepEqual(only.readiness.state(), { ready: true });
  assert.equal(await metric(only, 'store_alarms'), '0');
});

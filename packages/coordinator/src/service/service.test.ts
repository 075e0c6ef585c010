// Proves the services of a coordinator: the order of checks, the status of every refusal, the
// redirect of followers, the order of lists, and that no answer leaves a deposed leader.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from '@bigfleet/base';
import { InstructAck_Outcome, type PeerIdentity, RpcError } from '@bigfleet/wire';
import {
  CoordinatorStage,
  samples,
  type StagedReplica,
} from '../process/testing/coordinator-stage.ts';

const verified = (role: 'admin' | 'readonly' | 'shard', id = ''): PeerIdentity => ({
  kind: 'verified',
  role,
  id,
  commonName: '',
  san: id === '' ? `bigfleet://${role}` : `bigfleet://${role}/${id}`,
});

async function refusal(stage: CoordinatorStage, call: () => Promise<unknown>): Promise<RpcError> {
  try {
    await stage.run(call());
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error;
  }
  return assert.fail('it was not refused');
}

async function led(): Promise<{ stage: CoordinatorStage; leader: StagedReplica }> {
  const stage = new CoordinatorStage();
  return { stage, leader: await stage.start('node-0') };
}

async function report(
  stage: CoordinatorStage,
  leader: StagedReplica,
  shardId: string,
  cycle = 1n,
): Promise<void> {
  const call = stage.coordinator(leader).reportShard({
    shardId,
    shardAddress: `${shardId}:7780`,
    shardEpoch: 1n,
    cycle,
    summary: { totalMachines: 3 },
    shortfalls: [{ priority: 5, requirements: [{ key: 'zone', values: ['a'] }] }],
  });
  assert.equal((await stage.run(call)).acknowledged, true);
}

test('a first report registers the shard; lists show it with its heartbeat', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-b');
  await report(stage, leader, 'shard-a');
  const { shards } = await stage.run(stage.coordinator(leader).listShards({}));
  assert.deepEqual(
    shards.map(({ shardId, address }) => [shardId, address]),
    [
      ['shard-a', 'shard-a:7780'],
      ['shard-b', 'shard-b:7780'],
    ],
  );
  assert.ok(shards.every(({ registeredAtUnixNs }) => registeredAtUnixNs > 0n));
  assert.ok(shards.every(({ lastHeartbeatUnixNs }) => lastHeartbeatUnixNs > 0n));
  const { reports } = await stage.run(stage.coordinator(leader).listShardReports({ shardId: '' }));
  assert.deepEqual(
    reports.map(({ shardId, summary, shortfalls }) => [
      shardId,
      summary?.totalMachines,
      shortfalls.map(({ priority, requirements }) => [priority, requirements.length]),
    ]),
    [
      ['shard-a', 3, [[5, 0]]],
      ['shard-b', 3, [[5, 0]]],
    ],
  );
});

test('domains, quotas, providers and clusters: what is set is listed, in order', async () => {
  const { stage, leader } = await led();
  for (const shard of ['shard-a', 'shard-b']) await report(stage, leader, shard);
  const coordinator = stage.coordinator(leader);
  const admin = stage.admin(leader);
  const assign = (topologyValue: string, shardId: string): Promise<unknown> =>
    stage.run(coordinator.assignDomain({ topologyKey: 'zone', topologyValue, shardId }));
  await assign('z1', 'shard-b');
  await assign('z3', 'shard-a');
  await assign('z2', 'shard-a');
  const { assignments } = await stage.run(coordinator.listDomainAssignments({}));
  assert.deepEqual(
    assignments.map(({ topologyValue, shardId, releasing }) => [shardId, topologyValue, releasing]),
    [
      ['shard-a', 'z2', false],
      ['shard-a', 'z3', false],
      ['shard-b', 'z1', false],
    ],
  );
  const provider = { name: 'aws', address: 'aws:9000', region: 'eu', declaredQuota: 10 };
  await stage.run(admin.registerProvider({ provider }));
  await stage.run(
    admin.setQuota({ provider: 'aws', region: 'eu', perShard: { 'shard-b': 3, 'shard-a': 4 } }),
  );
  const { allocations } = await stage.run(coordinator.listQuotas({}));
  assert.deepEqual({ ...allocations[0]?.perShard }, { 'shard-a': 4, 'shard-b': 3 });
  const { providers } = await stage.run(coordinator.listProviders({}));
  assert.deepEqual(
    providers.map(({ name, address, declaredQuota }) => [name, address, declaredQuota]),
    [['aws', 'aws:9000', 10]],
  );
  await stage.run(admin.bindCluster({ clusterId: 'blue', shardId: 'shard-a' }));
  const { bindings } = await stage.run(admin.listClusterBindings({ shardId: 'shard-a' }));
  assert.deepEqual(
    bindings.map(({ clusterId, shardId }) => [clusterId, shardId]),
    [['blue', 'shard-a']],
  );
  assert.deepEqual(
    (await stage.run(admin.listClusterBindings({ shardId: 'shard-b' }))).bindings,
    [],
  );
});

test('a cluster is bound by hand, refused to another shard, taken by force, unbound', async () => {
  const { stage, leader } = await led();
  for (const shard of ['shard-a', 'shard-b']) await report(stage, leader, shard);
  const admin = stage.admin(leader);
  const owner = async (): Promise<string | undefined> =>
    (await stage.run(admin.listClusterBindings({}))).bindings[0]?.shardId;
  await stage.run(admin.bindCluster({ clusterId: 'c', shardId: 'shard-a' }));
  const theft = { clusterId: 'c', shardId: 'shard-b' };
  assert.equal((await refusal(stage, () => admin.bindCluster(theft))).code, 'ALREADY_EXISTS');
  assert.equal(await owner(), 'shard-a');
  await stage.run(admin.bindCluster({ ...theft, force: true }));
  assert.equal(await owner(), 'shard-b');
  await stage.run(admin.unbindCluster({ clusterId: 'c' }));
  assert.equal(await owner(), undefined);
});

test('refusals have the code that clients match on and a text that names the owner', async () => {
  const { stage, leader } = await led();
  for (const shard of ['shard-a', 'shard-b']) await report(stage, leader, shard);
  const coordinator = stage.coordinator(leader);
  const admin = stage.admin(leader);
  const zone = { topologyKey: 'zone', topologyValue: 'z1' };
  await stage.run(coordinator.assignDomain({ ...zone, shardId: 'shard-a' }));
  await stage.run(admin.bindCluster({ clusterId: 'blue', shardId: 'shard-a' }));
  const cases: readonly [() => Promise<unknown>, string, RegExp][] = [
    [
      () => coordinator.assignDomain({ ...zone, shardId: '' }),
      'INVALID_ARGUMENT',
      /shardId is required/,
    ],
    [
      () => coordinator.assignDomain({ ...zone, shardId: 'shard-x' }),
      'NOT_FOUND',
      /shard not found/,
    ],
    [
      () =>
        coordinator.assignDomain({
          topologyKey: '',
          topologyValue: 'machine m-1',
          shardId: 'shard-a',
        }),
      'INVALID_ARGUMENT',
      /^coordinator: "machine m-1" is not in dispute; /,
    ],
    [
      () => coordinator.assignDomain({ ...zone, shardId: 'shard-b' }),
      'ALREADY_EXISTS',
      /currently on shard-a, asked shard-b/,
    ],
    [
      () => admin.bindCluster({ clusterId: 'blue', shardId: 'shard-b' }),
      'ALREADY_EXISTS',
      /currently on shard-a/,
    ],
    [() => coordinator.removeShard({ shardId: 'shard-x' }), 'NOT_FOUND', /shard not found/],
    [() => admin.deregisterProvider({ name: 'nobody' }), 'NOT_FOUND', /provider/],
    [
      () => admin.registerProvider({ provider: { name: 'p', address: 'u:pw@h:1', region: 'r' } }),
      'INVALID_ARGUMENT',
      /address/,
    ],
    [
      () => coordinator.joinRaftCluster({ nodeId: 'n', raftAddress: 'n:7791' }),
      'FAILED_PRECONDITION',
      /single-replica/,
    ],
    [() => coordinator.reportShard({ shardId: '' }), 'INVALID_ARGUMENT', /shard_id/],
  ];
  for (const [call, code, text] of cases) {
    const error = await refusal(stage, call);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, text);
  }
});

test('every change writes one audit line, refusals included', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  const coordinator = stage.coordinator(leader);
  const zone = { topologyKey: 'zone', topologyValue: 'z1' };
  await stage.run(coordinator.assignDomain({ ...zone, shardId: 'shard-a' }));
  await refusal(stage, () => coordinator.assignDomain({ ...zone, shardId: 'shard-x' }));
  const lines = stage.log.lines.filter((line) => line.includes('msg="admin call"'));
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /identity=unauthenticated .* outcome=ok term=1 index=3/);
  assert.match(lines[1] ?? '', /outcome="NOT_FOUND: coordinator: shard not found.*index=none/);
});

test('a follower refuses reads and writes, names the leader, and still answers GetStatus', async () => {
  const stage = new CoordinatorStage();
  await stage.start('node-0');
  const follower = await stage.start('node-1');
  await stage.time.runFor(1_500);
  const calls: readonly (() => Promise<unknown>)[] = [
    () => stage.coordinator(follower).listShards({}),
    () => stage.coordinator(follower).reportShard({ shardId: 'shard-a' }),
    () => stage.admin(follower).listTransfers({}),
  ];
  for (const call of calls) {
    const error = await refusal(stage, call);
    assert.equal(error.code, 'FAILED_PRECONDITION');
    assert.equal(error.message, 'coordinator: not leader');
    assert.equal(error.metadata.get('bigfleet-leader-address'), 'node-0:7790');
    assert.equal(error.metadata.get('bigfleet-leader-term'), '1');
  }
  const status = await stage.run(stage.admin(follower).getStatus({}));
  assert.deepEqual(
    [status.nodeId, status.isLeader, status.leaderNodeId, status.coordinatorTerm],
    ['node-1', false, 'node-0', 1n],
  );
});

test('GetStatus of the leader counts what waits for an acknowledgement, for every registered shard', async () => {
  const stage = new CoordinatorStage();
  const leader = await stage.start('node-0');
  const follower = await stage.start('node-1');
  await report(stage, leader, 'shard-a');
  await report(stage, leader, 'shard-b');
  const pending = async (of: StagedReplica): Promise<Record<string, number>> =>
    (await stage.run(stage.admin(of).getStatus({}))).pendingInstructions;
  assert.deepEqual(await pending(leader), { 'shard-a': 0, 'shard-b': 0 });
  const queue = leader.replica.leading()?.desk.queue;
  assert.ok(queue !== undefined);
  const value = { topologyKey: 'zone', topologyValue: 'z1' };
  const $typeName = 'bigfleet.v1alpha1.AssignDomain' as const;
  const payload = { case: 'assignDomain' as const, value: { ...value, $typeName } };
  const first = queue.enqueue('shard-b', payload, '');
  queue.enqueue('shard-b', payload, '');
  assert.deepEqual(await pending(leader), { 'shard-a': 0, 'shard-b': 2 });
  assert.deepEqual(await pending(follower), {}, 'a follower has none to give');
  assert.ok(first !== 'full');
  const { instructionId } = first.instruction;
  const instructionAcks = [{ instructionId, outcome: InstructAck_Outcome.ACCEPTED }];
  const next = { shardId: 'shard-b', shardEpoch: 1n, cycle: 2n, instructionAcks };
  await stage.run(stage.coordinator(leader).reportShard(next));
  assert.deepEqual(await pending(leader), { 'shard-a': 0, 'shard-b': 1 });
  const scraped = await samples(leader);
  assert.ok(scraped.includes('bigfleet_coordinator_pending_instructions{shard="shard-b"} 1'));
  await stage.run(stage.coordinator(leader).removeShard({ shardId: 'shard-b', force: true }));
  assert.deepEqual(await pending(leader), { 'shard-a': 0 });
  stage.disk.depose();
  await stage.time.runFor(1);
  assert.deepEqual(await pending(leader), {}, 'deposed');
});

/** Something happens after the data is taken and before the look at the leadership. */
function beforeConfirming(leader: StagedReplica, happens: () => unknown): void {
  const { store } = leader;
  const confirm = store.confirm.bind(store);
  store.confirm = async (leadership) => {
    await happens();
    return confirm(leadership);
  };
}

test('a leader that was deposed while it read answers with a refusal, not with the data', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  beforeConfirming(leader, () => stage.disk.depose());
  const error = await refusal(stage, () => stage.coordinator(leader).listShards({}));
  assert.equal(error.code, 'FAILED_PRECONDITION');
});

test('what a read answers was taken before the look at the leadership, not after it', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0, shards: [] };
  beforeConfirming(leader, () =>
    leader.replica.leading()?.ledger.apply({ kind: 'UpsertProvider', entry }),
  );
  const list = (): Promise<{ providers: readonly unknown[] }> =>
    stage.run(stage.coordinator(leader).listProviders({}));
  assert.equal((await list()).providers.length, 0);
  assert.equal((await list()).providers.length, 1);
});

test('a leadership that ended while it was looked at gives no answer either', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  // The store was asked in time and said yes; this replica has resigned since.
  leader.store.confirm = async () => {
    leader.replica.raiseAbove(1n);
    while (leader.replica.leading() !== undefined) await Promise.resolve();
    return 'leading';
  };
  const error = await refusal(stage, () => stage.coordinator(leader).listShards({}));
  assert.equal(error.code, 'FAILED_PRECONDITION');
});

test('a look at the leadership that gets no answer is no answer: retry', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  leader.store.confirm = () => Promise.resolve('timeout');
  const error = await refusal(stage, () => stage.coordinator(leader).listShards({}));
  assert.deepEqual([error.code, error.message.includes('retry')], ['UNAVAILABLE', true]);
});

test('a success that wrote nothing is confirmed too', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  const zone = { topologyKey: 'zone', topologyValue: 'z1', shardId: 'shard-a' };
  await stage.run(stage.coordinator(leader).assignDomain(zone));
  beforeConfirming(leader, () => stage.disk.depose());
  const error = await refusal(stage, () => stage.coordinator(leader).assignDomain(zone));
  assert.equal(error.code, 'FAILED_PRECONDITION');
});

test('under mTLS a role may call what the matrix says, and a shard only for itself', async () => {
  const stage = new CoordinatorStage('mtls');
  const leader = await stage.start('node-0');
  const shard = verified('shard', 'shard-a');
  const own = stage
    .coordinator(leader, shard)
    .reportShard({ shardId: 'shard-a', shardEpoch: 1n, cycle: 1n });
  assert.equal((await stage.run(own)).acknowledged, true);
  const denied: readonly (() => Promise<unknown>)[] = [
    () => stage.coordinator(leader, shard).reportShard({ shardId: 'shard-b', cycle: 1n }),
    () => stage.coordinator(leader, shard).listShards({}),
    () => stage.coordinator(leader, verified('readonly')).removeShard({ shardId: 'shard-a' }),
    () => stage.coordinator(leader).listShards({}),
  ];
  for (const call of denied) {
    assert.equal((await refusal(stage, call)).code, 'PERMISSION_DENIED');
  }
  const count = (kind: string): number =>
    stage.log.lines.filter((line) => line.includes(`coordinator rejected ${kind} identity`)).length;
  assert.deepEqual([count('shard'), count('read'), count('admin')], [1, 2, 1]);
  const { shards } = await stage.run(
    stage.coordinator(leader, verified('readonly')).listShards({}),
  );
  assert.equal(shards.length, 1);
});

test('removing a shard forgets what it said and what it was to hear', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  const coordinator = stage.coordinator(leader);
  await stage.run(
    coordinator.assignDomain({ topologyKey: 'zone', topologyValue: 'z', shardId: 'shard-a' }),
  );
  await stage.run(coordinator.removeShard({ shardId: 'shard-a' }));
  assert.deepEqual((await stage.run(coordinator.listShardReports({ shardId: '' }))).reports, []);
  await report(stage, leader, 'shard-a');
  assert.deepEqual((await stage.run(coordinator.listDomainAssignments({}))).assignments, []);
});

test('a report without a shard id is malformed, not an impostor', async () => {
  const stage = new CoordinatorStage('mtls');
  const leader = await stage.start('node-0');
  const shard = stage.coordinator(leader, verified('shard', 'shard-a'));
  const { code, message } = await refusal(stage, () => shard.reportShard({ cycle: 1n }));
  assert.deepEqual([code, /shard_id/.test(message)], ['INVALID_ARGUMENT', true]);
  assert.ok(!stage.log.lines.some((line) => line.includes('rejected shard identity')));
});

test('what waits in the queue longer than its caller is not written', async () => {
  const { stage, leader } = await led();
  await report(stage, leader, 'shard-a');
  const { runtime } = stage.time;
  const admin = stage.admin(leader);
  // The first command's outcome stays unknown for a second, and holds the queue for as long.
  leader.store.commitFaults.push('unknown-without-commit');
  leader.store.unresolvedCount = 10;
  const first = admin.bindCluster({ clusterId: 'first', shardId: 'shard-a' });
  const patient = admin.bindCluster({ clusterId: 'patient', shardId: 'shard-a' });
  const hurried = withDeadline(runtime, 300);
  const call = { signal: hurried.signal };
  const impatient = admin.bindCluster({ clusterId: 'impatient', shardId: 'shard-a' }, call);
  const cycle = { shardId: 'shard-a', shardEpoch: 1n, cycle: 2n, clusterIds: ['reported'] };
  const told = stage.coordinator(leader).reportShard(cycle, call);
  const settled = Promise.allSettled([first, patient, impatient, told]);
  await stage.time.runFor(5_000);
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['rejected', 'fulfilled', 'rejected', 'rejected'],
  );
  const { bindings } = await stage.run(admin.listClusterBindings({ shardId: '' }));
  assert.deepEqual(
    bindings.map(({ clusterId }) => clusterId),
    ['patient'],
  );
});

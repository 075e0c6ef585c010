// Proves the operator's side of kubernetes §3 and §4 on the test API server: what becomes of requests,
// frames and instructions, and of a process that dies in between.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  AvailableCapacityUpdateSchema,
  Confidence,
  decode,
  encodeInit,
  MachineState,
  Operator,
} from '@bigfleet/wire';
import { KubeClient } from '@bigfleet/kube';
import { availableCapacityName } from './names.ts';
import { PODS_PATH, REQUESTS_PATH, type StoredObject } from '@bigfleet/kube/testing';
import { ClusterWorld, NODES_PATH, OURS } from './testing/cluster-world.ts';

async function started(): Promise<ClusterWorld> {
  const world = new ClusterWorld();
  await world.time.runFor(2_000);
  return world;
}

// ── demand ──────────────────────────────────────────────────────────────────────────────────

test('there is no demand before the first full list, and never half of one', async () => {
  const world = new ClusterWorld();
  assert.equal(world.cluster.demand(), undefined);
  world.server.faults.add(
    { pathPrefix: `${OURS}/capacityrequests` },
    { kind: 'refuse', code: 403 },
  );
  await world.time.runFor(60_000);
  assert.equal(world.cluster.demand(), undefined);
  world.server.faults.clear();
  for (let i = 0; i < 1_200; i++) world.request(`r${i}`);
  await world.time.runFor(60_000);
  assert.equal(world.cluster.demand()?.requestCount, 1_200);
  world.stop();
});

test('no request is written to before all are read: the writes would hold up the list', async () => {
  const world = new ClusterWorld();
  const path = `${OURS}/capacityrequests`;
  world.server.faults.add({ pathPrefix: path }, { kind: 'refuse', code: 403 });
  await world.time.runFor(1_000);
  for (let i = 0; i < 1_200; i++) world.request(`r${i}`);
  world.server.faults.clear();
  world.server.faults.add({ pathPrefix: path, methods: ['GET'] }, { kind: 'latency', ms: 5_000 });
  const stamped = (): number =>
    world.list(REQUESTS_PATH).filter(({ status }) => status?.['phase'] !== undefined).length;
  let waits = 0;
  for (; world.cluster.demand() === undefined; waits++) {
    assert.equal(stamped(), 0);
    await world.time.runFor(1_000);
  }
  assert.ok(waits > 15, 'three pages, five seconds each');
  await world.time.runFor(120_000);
  assert.equal(stamped(), 1_200);
  world.stop();
});

test('a flood of requests without a phase is stamped a few at a time', async () => {
  const world = await started();
  for (let i = 0; i < 500; i++) world.request(`r${i}`);
  await world.time.runFor(1_000);
  const stamped = (): number =>
    world.list(REQUESTS_PATH).filter(({ status }) => status?.['phase'] === 'Pending').length;
  assert.ok(stamped() > 0 && stamped() < 500, `${stamped()}`);
  assert.ok(world.waitingWrites() <= 16, `${world.waitingWrites()} writes wait`);
  await world.time.runFor(60_000);
  assert.equal(stamped(), 500);
  world.stop();
});

test('a process that ends begins no write any more', async (t) => {
  const world = await started();
  const { mock } = t.mock.method(KubeClient.prototype, 'mergePatch');
  for (let i = 0; i < 500; i++) world.request(`r${i}`);
  await world.time.runFor(1_000);
  const begun = mock.callCount();
  assert.ok(begun > 0 && begun < 500, `${begun}`);
  world.stop();
  await world.time.runFor(1_000);
  assert.equal(mock.callCount(), begun);
});

test('a request of another writer is stamped Pending, and acknowledged once', async () => {
  const world = await started();
  world.request('r1');
  await world.time.runFor(2_000);
  assert.equal(world.get(`${REQUESTS_PATH}/r1`).status?.['phase'], 'Pending');
  const [open] = world.cluster.demand()?.rollup().unacknowledged ?? [];
  assert.ok(open !== undefined);
  const answer = world.cluster.acknowledge(open, new AbortController().signal);
  await world.time.runFor(2_000);
  assert.equal(await answer, 'acknowledged');
  assert.equal(world.get(`${REQUESTS_PATH}/r1`).status?.['phase'], 'Acknowledged');
  assert.deepEqual(world.cluster.demand()?.rollup().unacknowledged, []);
  world.ask('DELETE', `${REQUESTS_PATH}/r1`);
  const gone = world.cluster.acknowledge(open, new AbortController().signal);
  await world.time.runFor(2_000);
  assert.equal(await gone, 'gone');
  world.stop();
});

test('a foreign request is left out, says so on itself, and is counted again without the mark', async () => {
  const world = await started();
  world.request('r1', {}, { 'bigfleet.lucy.sh/foreign-node': 'true' });
  await world.time.runFor(3_000);
  const marked = world.get(`${REQUESTS_PATH}/r1`).metadata.annotations;
  assert.equal(marked?.['bigfleet.lucy.sh/excluded'], 'foreign-node');
  assert.equal(world.cluster.demand()?.rollup().needs.length, 0);
  world.merge(`${REQUESTS_PATH}/r1`, {
    metadata: { labels: { 'bigfleet.lucy.sh/foreign-node': null } },
  });
  await world.time.runFor(3_000);
  assert.equal(
    world.get(`${REQUESTS_PATH}/r1`).metadata.annotations?.['bigfleet.lucy.sh/excluded'],
    undefined,
  );
  assert.equal(world.cluster.demand()?.rollup().needs.length, 1);
  world.stop();
});

test('a changed schema lists the requests anew', async () => {
  const world = await started();
  const path =
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';
  const crd = world.ask('GET', path) as unknown as {
    spec: {
      versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }[];
    };
  };
  Object.assign(crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec.properties, {
    added: { type: 'string', default: 'x' },
  });
  world.ask('PUT', path, crd);
  await world.time.runFor(60_000);
  assert.ok(world.relists.includes('capacityrequests schema'), world.relists.join());
  world.stop();
});

// ── frames ──────────────────────────────────────────────────────────────────────────────────

test('a machine comes, serves and leaves: its UpcomingNode follows and goes, and so does its Node', async () => {
  const world = await started();
  const shape = {
    labels: { zone: 'a' },
    resources: { resources: { cpu: '4' } },
    taints: [{ key: 'gpu', value: 'x', effect: 'NoSchedule' }],
  };
  assert.equal(await world.frame('m1', MachineState.CREATING), 'Provisioning');
  assert.equal(await world.frame('m1', MachineState.CONFIGURING, shape), 'Registered');
  world.node('node-a', { machine: 'm1' });
  assert.equal(await world.frame('m1', MachineState.CONFIGURED, shape), 'Ready');
  const { spec, status, metadata } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.deepEqual(spec, { ...shape, resources: { cpu: '4' } });
  assert.equal(metadata.annotations?.['bigfleet.lucy.sh/machine-id'], 'm1');
  assert.equal((status?.['nodeRef'] as { name: string } | undefined)?.name, 'node-a');
  assert.match(String(status?.['provisioningStartTime']), /^\d{4}-.*Z$/);
  assert.equal(await world.frame('m1', MachineState.DRAINING, shape), 'Draining');
  assert.equal(await world.frame('m1', MachineState.IDLE), 'Drained');
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  assert.deepEqual(world.list(NODES_PATH), []);
  world.stop();
});

test('a repeated frame writes nothing', async () => {
  const world = await started();
  await world.frame('m1', MachineState.CONFIGURING);
  const before = world.writes.length;
  await world.frame('m1', MachineState.CONFIGURING);
  assert.deepEqual(world.writes.slice(before), ['status_update noop']);
  world.stop();
});

test('an idle machine that nobody knows creates nothing', async () => {
  const world = await started();
  await world.frame('m1', MachineState.IDLE);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  world.stop();
});

test('a machine that is given back before it came leaves nothing', async () => {
  const world = await started();
  await world.frame('m1', MachineState.CONFIGURING);
  await world.frame('m1', MachineState.IDLE);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  await world.frame('m1', MachineState.CONFIGURING);
  assert.equal(world.list(`${OURS}/upcomingnodes`).length, 1);
  world.stop();
});

test('an error is shown while the machine has failed, and cleared afterwards', async () => {
  const world = await started();
  await world.frame('m1', MachineState.FAILED, { lastError: 'no quota' });
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['lastError'], 'no quota');
  await world.frame('m1', MachineState.CONFIGURING);
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['lastError'], undefined);
  world.stop();
});

test('labels that a machine no longer has leave its UpcomingNode', async () => {
  const world = await started();
  await world.frame('m1', MachineState.CONFIGURING, { labels: { a: '1', b: '2' } });
  await world.frame('m1', MachineState.CONFIGURING, { labels: { b: '3' } });
  assert.deepEqual(world.get(`${OURS}/upcomingnodes/un-m1`).spec['labels'], { b: '3' });
  world.stop();
});

test('left-overs of machines that the replay does not name go, except where their Node works', async () => {
  const world = await started();
  for (const machine of ['m1', 'm2', 'm3']) await world.frame(machine, MachineState.CONFIGURED);
  world.node('node-2', { machine: 'm2' });
  await world.restart();
  const swept = world.cluster.sweepMachines(new Set(['m3']), new AbortController().signal);
  await world.time.runFor(5_000);
  await swept;
  const names = world.list(`${OURS}/upcomingnodes`).map(({ metadata }) => metadata.name);
  assert.deepEqual(names.sort(), ['un-m2', 'un-m3']);
  assert.deepEqual(world.chores, ['kept m2']);
  world.stop();
});

test('a left-over that was kept goes when its Node stops, and the Node with it if it was drained', async () => {
  const world = await started();
  for (const machine of ['m1', 'm2']) await world.frame(machine, MachineState.CONFIGURED);
  world.node('node-1', { machine: 'm1' });
  world.node('node-2', { machine: 'm2' });
  const mark = JSON.stringify({
    id: 'r',
    deadline: '2026-01-01T00:00:01Z',
    machine: 'm2',
    over: true,
  });
  world.merge('/api/v1/nodes/node-2', {
    metadata: { annotations: { 'bigfleet.lucy.sh/reclaim': mark } },
    spec: { unschedulable: true },
  });
  await world.restart();
  const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
  await world.time.runFor(5_000);
  await swept;
  assert.deepEqual(world.chores, ['kept m1', 'kept m2']);
  assert.equal(world.list(`${OURS}/upcomingnodes`).length, 2);
  for (const name of ['node-1', 'node-2']) {
    const conditions = [{ type: 'Ready', status: 'Unknown' }];
    world.merge(`/api/v1/nodes/${name}/status`, { status: { conditions } });
  }
  await world.time.runFor(5_000);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  assert.deepEqual(
    world.list('/api/v1/nodes').map(({ metadata }) => metadata.name),
    ['node-1'],
    'a Node that nobody drained is not ours to delete',
  );
  world.stop();
});

// ── reclaim ─────────────────────────────────────────────────────────────────────────────────

async function served(world: ClusterWorld): Promise<void> {
  await world.frame('m1', MachineState.CONFIGURING);
  world.node('node-a', { machine: 'm1' });
  await world.frame('m1', MachineState.CONFIGURED);
}

async function cordoned(world: ClusterWorld, graceMs: number): Promise<string> {
  const plan = {
    instructionId: 'i1',
    deadlineUnixMs: world.nowUnixMs() + graceMs,
    preemptorPriority: 0,
    reasonCode: '',
  };
  const target = { node: 'm1', machineId: 'm1' };
  const outcome = world.cluster.cordon(target, plan, new AbortController().signal);
  await world.time.runFor(2_000);
  return (await outcome).kind;
}

const target = { node: 'm1', machineId: 'm1' };

test('a node named by its machine is cordoned and emptied by evictions; daemons and mirrors stay', async () => {
  const world = await started();
  await served(world);
  const { metadata } = world.ask('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } },
  }) as unknown as StoredObject;
  const daemon = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'd',
    uid: metadata.uid,
    controller: true,
  };
  world.pod('web', 'node-a');
  world.pod('daemon', 'node-a', { ownerReferences: [daemon] });
  world.pod('mirror', 'node-a', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  assert.equal(await cordoned(world, 60_000), 'cordoned');
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Draining');
  const drained = world.cluster.drain(target, world.control(60_000));
  await world.live(10_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  const left = world.list(PODS_PATH).map(({ metadata }) => metadata.name);
  assert.deepEqual(left.sort(), ['daemon', 'mirror']);
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Drained');
  world.stop();
});

test('a budget holds an eviction back until it is loosened', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const drained = world.cluster.drain(target, world.control(600_000));
  await world.live(60_000);
  assert.equal(world.list(PODS_PATH).length, 1);
  assert.ok(world.evictions.includes('blocked'));
  world.merge('/apis/policy/v1/namespaces/default/poddisruptionbudgets/db', {
    spec: { minAvailable: 0 },
  });
  await world.live(20_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  world.stop();
});

test('a budget that is never loosened ends the drain at its deadline, and the Pod lives', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 30_000);
  const drained = world.cluster.drain(target, world.control(30_000));
  await world.live(40_000);
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 1 });
  const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.equal(status?.['phase'], 'Failed');
  assert.match(String(status?.['lastError']), /^drain: .*pods remaining: 1/);
  assert.equal(world.list(PODS_PATH).length, 1);
  // The provider empties the machine all the same, and then it has left.
  await world.frame('m1', MachineState.IDLE);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  world.stop();
});

test('missing rights end a drain at once, with the reason', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  world.server.faults.add(
    { methods: ['POST'], pathPrefix: PODS_PATH },
    { kind: 'refuse', code: 403 },
  );
  const drained = world.cluster.drain(target, world.control(600_000));
  await world.time.runFor(5_000);
  const outcome = await drained;
  assert.equal(outcome.kind, 'forbidden');
  world.stop();
});

test('a target that names no node is said so', async () => {
  const world = await started();
  assert.equal(await cordoned(world, 1_000), 'not_found');
  assert.deepEqual(await world.cluster.drain(target, world.control(1_000)), {
    kind: 'node_not_found',
  });
  world.stop();
});

test('an operator that died in a drain finds it again; one that had ended it does not', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 600_000);
  await world.restart();
  const [interrupted, ...others] = world.cluster.interruptedDrains();
  assert.deepEqual(others, []);
  assert.equal(interrupted?.instructionId, 'i1');
  assert.deepEqual(interrupted?.target, { node: 'node-a', machineId: 'm1' });
  const drained = world.cluster.drain(target, world.control(60_000));
  await world.live(20_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  await world.restart();
  assert.deepEqual(world.cluster.interruptedDrains(), []);
  world.stop();
});

test('a drain whose grace ended while no operator ran has failed, says so, and evicts nobody', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 1_000);
  await world.restart();
  await world.time.runFor(60_000);
  const [interrupted] = world.cluster.interruptedDrains();
  assert.ok(interrupted !== undefined && interrupted.deadlineUnixMs < world.nowUnixMs());
  const drained = world.cluster.drain(interrupted.target, world.control(0));
  await world.time.runFor(5_000);
  const error = 'it ended while no operator was draining, pods remaining: unknown';
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 0, error });
  const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.deepEqual(
    [status?.['phase'], status?.['lastError']],
    ['Failed', `drain: the grace is over, ${error}`],
  );
  assert.equal(world.list(PODS_PATH)[0]?.metadata.deletionTimestamp, undefined);
  world.stop();
});

test('a drain that never saw the Pods of its node says so, and not that none is left', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 5_000);
  world.server.faults.add({ methods: ['GET'], pathPrefix: '/api/v1/pods' }, { kind: 'hang' });
  const drained = world.cluster.drain(target, world.control(5_000));
  await world.time.runFor(20_000);
  const error = 'the Pods of the node could not be listed, pods remaining: unknown';
  assert.deepEqual(await drained, { kind: 'deadline', podsRemaining: 0, error });
  world.stop();
});

test('an operator that is stopped in a drain leaves it to the next, and tells nobody that it failed', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const stop = new AbortController();
  const control = { ...world.control(600_000), signal: stop.signal, isInterrupted: true };
  const drained = world.cluster.drain(target, control);
  await world.time.runFor(5_000);
  stop.abort(new Error('the operator stops'));
  await world.time.runFor(5_000);
  await drained;
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Draining');
  await world.restart();
  assert.deepEqual(
    world.cluster.interruptedDrains().map((each) => each.instructionId),
    ['i1'],
  );
  world.stop();
});

test('a replayed Configured does not undo a drain under way', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a');
  await cordoned(world, 600_000);
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Draining');
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  world.stop();
});

function isDrained(world: ClusterWorld): boolean {
  const { spec, metadata } = world.get(`${NODES_PATH}/node-a`);
  const isMarked = metadata.annotations?.['bigfleet.lucy.sh/reclaim'] !== undefined;
  assert.equal(spec['unschedulable'] === true, isMarked);
  return isMarked;
}

test('a drain that a restarted shard forgot is given up, and evicts nobody any more', async () => {
  const world = await started();
  await served(world);
  world.pod('web', 'node-a', { labels: { app: 'db' } });
  world.budget('db', { app: 'db' }, 1);
  await world.time.runFor(2_000);
  await cordoned(world, 600_000);
  const drained = world.cluster.drain(target, world.control(600_000));
  await world.time.runFor(5_000);
  await world.frame('m1', MachineState.CONFIGURED);
  await world.time.runFor(25_000);
  assert.ok(isDrained(world), 'the instruction may come again');
  await world.time.runFor(10_000);
  assert.ok(!isDrained(world));
  assert.deepEqual(await Promise.race([drained, Promise.resolve('goes on')]), { kind: 'given_up' });
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Ready');
  assert.ok(world.chores.includes('given up m1'));
  world.merge('/apis/policy/v1/namespaces/default/poddisruptionbudgets/db', {
    spec: { minAvailable: 0 },
  });
  await world.live(10_000);
  assert.equal(world.get(`${PODS_PATH}/web`).metadata.deletionTimestamp, undefined);
  world.stop();
});

test('so is one that had ended, also when its grace is over by then', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 20_000);
  const drained = world.cluster.drain(target, world.control(20_000));
  await world.time.runFor(5_000);
  assert.deepEqual(await drained, { kind: 'empty' });
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Drained');
  await world.time.runFor(40_000);
  assert.ok(!isDrained(world));
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Ready');
  world.stop();
});

test('a drain goes on when the shard drains too, or instructs again', async () => {
  for (const word of ['state', 'instruction'] as const) {
    const world = await started();
    await served(world);
    await cordoned(world, 600_000);
    for (let frame = 0; frame < 2; frame++) {
      await world.frame('m1', MachineState.CONFIGURED);
      await world.time.runFor(5_000);
    }
    if (word === 'state') await world.frame('m1', MachineState.DRAINING);
    else await cordoned(world, 600_000);
    await world.time.runFor(100_000);
    assert.ok(isDrained(world), word);
    world.stop();
  }
});

test('giving up is tried again when the API server refuses', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 600_000);
  await world.frame('m1', MachineState.CONFIGURED);
  const path = `${NODES_PATH}/node-a`;
  world.server.faults.add({ pathPrefix: path, methods: ['PATCH'] }, { kind: 'refuse', code: 403 });
  await world.time.runFor(40_000);
  assert.ok(isDrained(world));
  world.server.faults.clear();
  await world.time.runFor(40_000);
  assert.ok(!isDrained(world));
  await world.time.runFor(100_000);
  assert.equal(world.chores.filter((chore) => chore === 'given up m1').length, 2);
  world.stop();
});

test('a machine that comes back onto its old Node is schedulable again', async () => {
  const world = await started();
  await served(world);
  await cordoned(world, 600_000);
  // The Node object outlived the machine's leave: the operator was away when it ended.
  await world.restart();
  await world.frame('m1', MachineState.CONFIGURING);
  assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Ready');
  const { spec, metadata } = world.get(`${NODES_PATH}/node-a`);
  assert.equal(spec['unschedulable'], undefined);
  assert.equal(metadata.annotations?.['bigfleet.lucy.sh/reclaim'], undefined);
  world.stop();
});

test('a Node that a new kubelet may have taken over is not deleted for the drain before', async () => {
  // The blob is asked for at once, or while the server takes its time over the deletion.
  for (const latency of [0, 2_000]) {
    const world = await started();
    await served(world);
    await cordoned(world, 600_000);
    await world.frame('m1', MachineState.DRAINING);
    const path = `${NODES_PATH}/node-a`;
    world.server.faults.add(
      { pathPrefix: path, methods: ['DELETE'], times: 1 },
      { kind: 'latency', ms: latency },
    );
    world.time.runtime.timers.after(latency / 2, () => {
      world.askForBlob('m1');
      world.merge(path, { metadata: { labels: { boot: 'second' } } });
    });
    assert.equal(await world.frame('m1', MachineState.IDLE), 'Drained');
    assert.equal(world.get(path).metadata.labels?.['boot'], 'second');
    await world.frame('m1', MachineState.CONFIGURING);
    assert.equal(await world.frame('m1', MachineState.CONFIGURED), 'Ready');
    assert.ok(!isDrained(world));
    await world.frame('m1', MachineState.DRAINING);
    await world.frame('m1', MachineState.IDLE);
    assert.deepEqual(world.list(NODES_PATH), []);
    world.stop();
  }
});

test('a Node that others write to meanwhile goes all the same', async () => {
  const world = await started();
  await served(world);
  await world.frame('m1', MachineState.DRAINING);
  const path = `${NODES_PATH}/node-a`;
  world.server.faults.add(
    { pathPrefix: path, methods: ['DELETE'], times: 1 },
    { kind: 'latency', ms: 1_000 },
  );
  const conditions = [{ type: 'Ready', status: 'Unknown' }];
  world.time.runtime.timers.after(500, () => {
    world.merge(`${path}/status`, { status: { conditions } });
  });
  assert.equal(await world.frame('m1', MachineState.IDLE), 'Drained');
  assert.deepEqual(world.list(NODES_PATH), []);
  world.stop();
});

test("a person's cordon is never taken away", async () => {
  const world = await started();
  await served(world);
  world.merge(`${NODES_PATH}/node-a`, { spec: { unschedulable: true } });
  await world.frame('m1', MachineState.CONFIGURING);
  await world.frame('m1', MachineState.CONFIGURED);
  assert.equal(world.get(`${NODES_PATH}/node-a`).spec['unschedulable'], true);
  world.stop();
});

test('a machine that should serve while its Node does not is a phantom after two minutes', async () => {
  const world = await started();
  await served(world);
  assert.equal(world.cluster.phantomCount(), 0);
  world.merge(`${NODES_PATH}/node-a/status`, {
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  });
  await world.time.runFor(1_000);
  assert.equal(world.cluster.phantomCount(), 0);
  await world.time.runFor(121_000);
  assert.equal(world.cluster.phantomCount(), 1);
  world.stop();
});

// ── hints ───────────────────────────────────────────────────────────────────────────────────

async function hinted(world: ClusterWorld, key: string, availableCount: number): Promise<void> {
  const bytes = encodeInit(AvailableCapacityUpdateSchema, {
    supersedesKey: key,
    availableCount,
    confidence: Confidence.HIGH,
    costPerHour: 0.12345678,
    requirements: [
      { key: 'zone', operator: Operator.IN, values: ['a'] },
      { key: 'rack', operator: Operator.SAME, values: [] },
    ],
    resources: { resources: { cpu: '4', odd: 'garbage' } },
  });
  const update = decode(AvailableCapacityUpdateSchema, bytes, 'INTERNAL');
  const applied = world.cluster.applyAvailableCapacity(update, new AbortController().signal);
  await world.time.runFor(2_000);
  await applied;
}

test('a hint becomes one object, is replaced when it changes and swept when its key is gone', async () => {
  const world = await started();
  const path = `${OURS}/availablecapacities`;
  await hinted(world, 'available:any', 7);
  assert.deepEqual(world.get(`${path}/${availableCapacityName('available:any')}`).spec, {
    requirements: [{ key: 'zone', operator: 'In', values: ['a'] }],
    resources: { cpu: '4' },
    availableCount: 7,
    availability: 'High',
    cost: '0.1235',
  });
  await hinted(world, 'available:any', 8);
  await hinted(world, 'other', 1);
  assert.equal(world.list(path).length, 2);
  const swept = world.cluster.sweepAvailableCapacity(
    new Set(['other']),
    new AbortController().signal,
  );
  await world.time.runFor(2_000);
  await swept;
  const names = world.list(path).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, [availableCapacityName('other')]);
  world.stop();
});

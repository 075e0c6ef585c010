// Proves the operator's side of kubernetes §3 and §4 on the test API server: what becomes of requests and
// frames. Instructions: reclaim.test.ts.

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
import { REQUESTS_PATH } from '@bigfleet/kube/testing';
import { ClusterWorld, NODES_PATH, OURS, served, started } from './testing/cluster-world.ts';

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

test('a stamp and a mark that the server was too busy for come again without an event', async () => {
  for (const code of [429, 500] as const) {
    const world = await started();
    const mend = world.server.faults.add(
      { methods: ['PATCH'], pathPrefix: REQUESTS_PATH },
      { kind: 'refuse', code },
    );
    world.request('r1');
    world.request('r2', {}, { 'bigfleet.lucy.sh/foreign-node': 'true' });
    await world.time.runFor(20_000);
    assert.equal(world.get(`${REQUESTS_PATH}/r1`).status?.['phase'], undefined);
    mend();
    await world.time.runFor(20_000);
    assert.equal(world.get(`${REQUESTS_PATH}/r1`).status?.['phase'], 'Pending');
    const marked = world.get(`${REQUESTS_PATH}/r2`).metadata.annotations;
    assert.equal(marked?.['bigfleet.lucy.sh/excluded'], 'foreign-node');
    world.stop();
  }
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

test('a left-over that may not go does not keep the others', async () => {
  const world = await started();
  for (const machine of ['m1', 'm2', 'm3']) await world.frame(machine, MachineState.CONFIGURED);
  const path = `${OURS}/upcomingnodes`;
  const refusal = { kind: 'refuse', code: 403 } as const;
  world.server.faults.add({ pathPrefix: `${path}/un-m1`, methods: ['DELETE'] }, refusal);
  const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
  const failed = assert.rejects(swept, /403/);
  await world.time.runFor(5_000);
  await failed;
  const names = world.list(path).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['un-m1']);
  world.stop();
});

test('a left-over that was kept goes when its Node stops, and the Node with it if it was drained', async () => {
  const world = await started();
  for (const machine of ['m1', 'm2']) await world.frame(machine, MachineState.CONFIGURED);
  // By its name alone: without a label, nothing on the Node says that it is ours.
  world.node('m1');
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
  for (const name of ['m1', 'node-2']) {
    const conditions = [{ type: 'Ready', status: 'Unknown' }];
    world.merge(`/api/v1/nodes/${name}/status`, { status: { conditions } });
  }
  await world.time.runFor(5_000);
  assert.deepEqual(world.list(`${OURS}/upcomingnodes`), []);
  assert.deepEqual(
    world.list('/api/v1/nodes').map(({ metadata }) => metadata.name),
    ['m1'],
    'a Node that nobody drained or labelled is not ours to delete',
  );
  world.stop();
});

test('a left-over that could not be swept is tried again, until its machine is heard of', async () => {
  for (const isHeard of [false, true]) {
    const world = await started();
    await served(world);
    const swept = world.cluster.sweepMachines(new Set(), new AbortController().signal);
    await world.time.runFor(5_000);
    await swept;
    const refusal = { kind: 'refuse', code: 503 } as const;
    const mend = world.server.faults.add({ pathPrefix: `${OURS}/upcomingnodes/un-m1` }, refusal);
    world.ask('DELETE', `${NODES_PATH}/node-a`);
    await world.time.runFor(60_000);
    assert.equal(world.list(`${OURS}/upcomingnodes`).length, 1);
    const failures = world.chores.filter((chore) => chore.includes('503')).length;
    assert.ok(failures >= 5 && failures < 20, String(failures));
    mend();
    if (isHeard) await world.frame('m1', MachineState.CONFIGURED);
    await world.time.runFor(31_000);
    assert.equal(world.list(`${OURS}/upcomingnodes`).length, isHeard ? 1 : 0);
    world.stop();
  }
});

test('a Node that is linked while the first status is written is in the status all the same', async () => {
  const world = await started();
  const path = `${OURS}/upcomingnodes/un-m1/status`;
  // The watch of UpcomingNodes is slow, as it is under load: nothing else asks for another write.
  world.server.faults.setSilent({ pathPrefix: `${OURS}/upcomingnodes` }, true);
  world.server.faults.add(
    { pathPrefix: path, methods: ['PATCH'], times: 1 },
    { kind: 'latency', ms: 1_000 },
  );
  world.time.runtime.timers.after(500, () => world.node('node-a', { machine: 'm1' }));
  await world.frame('m1', MachineState.CONFIGURING);
  const { status } = world.get(`${OURS}/upcomingnodes/un-m1`);
  assert.equal((status?.['nodeRef'] as { name: string } | undefined)?.name, 'node-a');
  world.stop();
});

// ── phantom machines ────────────────────────────────────────────────────────────────────────

function setReady(world: ClusterWorld, name: string, status: 'True' | 'False'): void {
  world.merge(`${NODES_PATH}/${name}/status`, {
    status: { conditions: [{ type: 'Ready', status }] },
  });
}

/** How often the cluster said that the set changed. */
function countChanges({ cluster }: ClusterWorld): () => number {
  let count = 0;
  cluster.watch({
    demandChanged: () => {},
    nodeLinked: () => {},
    nodeUnlinked: () => {},
    phantomsChanged: () => count++,
  });
  return () => count;
}

test('a machine that should serve while its Node does not is a phantom after two minutes, asked or not', async () => {
  const world = await started();
  await served(world);
  const changes = countChanges(world);
  setReady(world, 'node-a', 'False');
  // Nobody scrapes and no session asks meanwhile.
  await world.time.runFor(119_000);
  assert.deepEqual([world.cluster.phantomMachineIds(), changes()], [[], 0]);
  await world.time.runFor(32_000);
  assert.deepEqual([world.cluster.phantomMachineIds(), changes()], [['m1'], 1]);
  await world.time.runFor(60_000);
  assert.equal(changes(), 1, 'a set that stays is no news');
  setReady(world, 'node-a', 'True');
  await world.time.runFor(16_000);
  assert.deepEqual([world.cluster.phantomMachineIds(), changes()], [[], 2]);
  world.stop();
});

test('the two minutes begin anew when the Node served in between', async () => {
  const world = await started();
  await served(world);
  setReady(world, 'node-a', 'False');
  await world.time.runFor(100_000);
  setReady(world, 'node-a', 'True');
  await world.time.runFor(16_000);
  setReady(world, 'node-a', 'False');
  await world.time.runFor(100_000);
  assert.deepEqual(world.cluster.phantomMachineIds(), []);
  world.stop();
});

test('a missing, a cordoned and an unready Node make phantoms, sorted; a machine that is drained is none', async () => {
  const world = await started();
  for (const machine of ['m3', 'm2', 'm1', 'm0']) {
    await world.frame(machine, MachineState.CONFIGURING);
    world.node(`node-${machine}`, { machine });
    await world.frame(machine, MachineState.CONFIGURED);
  }
  world.ask('DELETE', `${NODES_PATH}/node-m3`);
  world.merge(`${NODES_PATH}/node-m2`, { spec: { unschedulable: true } });
  setReady(world, 'node-m1', 'False');
  setReady(world, 'node-m0', 'False');
  await world.frame('m0', MachineState.DRAINING);
  await world.time.runFor(151_000);
  assert.deepEqual(world.cluster.phantomMachineIds(), ['m1', 'm2', 'm3']);
  world.stop();
});

test('while the Nodes are not listed yet, no machine is a phantom', async () => {
  const world = await started();
  await served(world);
  world.server.faults.add({ pathPrefix: NODES_PATH }, { kind: 'refuse', code: 403 });
  await world.restart();
  await world.time.runFor(300_000);
  assert.deepEqual(world.cluster.unsynced(), ['nodes']);
  assert.deepEqual(world.cluster.phantomMachineIds(), []);
  world.stop();
});

test('an UpcomingNode that somebody gave an id without end is no machine to report', async () => {
  const world = await started();
  await served(world);
  world.merge(`${OURS}/upcomingnodes/un-m1`, {
    metadata: { annotations: { 'bigfleet.lucy.sh/machine-id': 'm'.repeat(2_000) } },
  });
  world.ask('DELETE', `${NODES_PATH}/node-a`);
  await world.time.runFor(151_000);
  assert.deepEqual(world.cluster.phantomMachineIds(), []);
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

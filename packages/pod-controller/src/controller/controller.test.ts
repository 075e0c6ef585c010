// Proves, on the test API server, that every Pod with demand has exactly one CapacityRequest for its
// whole life, whatever the watches, the API server and the process itself do meanwhile.

import assert from 'node:assert/strict';
import test from 'node:test';
import { createRandom } from '@bigfleet/base';
import { PODS_PATH, REQUESTS_PATH, type StoredObject } from '@bigfleet/kube/testing';
import { World } from './testing/world.ts';

const FOREIGN = 'bigfleet.lucy.sh/foreign-node';

async function started(rules?: ConstructorParameters<typeof World>[1]): Promise<World> {
  const world = new World('1', rules);
  world.restart();
  await world.time.runFor(1_000);
  return world;
}

/** What the watch asks for; a request by name has its namespace in the path. */
const ALL_REQUESTS = '/apis/bigfleet.lucy.sh/v1alpha1/capacityrequests';

function only(world: World): StoredObject {
  const requests = world.requests();
  assert.equal(requests.length, 1, `${requests.length} requests`);
  return requests[0]!;
}

test('a request that goes before the watch ever showed it comes back', async () => {
  const world = await started();
  const restore = world.server.faults.add(
    { pathPrefix: ALL_REQUESTS },
    { kind: 'refuse', code: 500 },
  );
  world.server.faults.breakWatches();
  world.pod('a');
  await world.time.runFor(5_000);
  const [request] = world.requests();
  assert.ok(request !== undefined);
  world.ask('DELETE', `${REQUESTS_PATH}/${request.metadata.name}`);
  world.server.compact();
  restore();
  await world.time.runFor(120_000);
  assert.deepEqual(
    world.requests().map(({ metadata }) => metadata.name),
    [request.metadata.name],
  );
  await world.stop();
});

test('a request that the watch never showed and that may not be read is told of', async () => {
  const world = await started();
  world.server.faults.add({ pathPrefix: ALL_REQUESTS }, { kind: 'refuse', code: 500 });
  world.server.faults.breakWatches();
  world.server.faults.add(
    { methods: ['GET'], pathPrefix: `${REQUESTS_PATH}/` },
    { kind: 'refuse', code: 403 },
  );
  world.pod('a');
  await world.time.runFor(120_000);
  assert.match(world.failures.join('\n'), /^default\/a: .*403/m);
  await world.stop();
});

test('a Pod gets its request within a second, Pending, and keeps it when it runs', async () => {
  const world = await started();
  world.pod('web', { spec: { nodeSelector: { zone: 'a' } } });
  await world.time.runFor(1_000);
  const request = only(world);
  assert.match(request.metadata.name, /^cr-pod-web-[0-9a-f]{10}$/);
  assert.equal(request.status?.['phase'], 'Pending');
  assert.deepEqual(request.spec, {
    requirements: [{ key: 'zone', operator: 'In', values: ['a'] }],
    resources: { cpu: '1' },
    priority: 0,
  });
  world.node('n1', { 'bigfleet.lucy.sh/machine-id': 'm1' });
  world.bind('web', 'n1');
  world.merge(`${PODS_PATH}/web/status`, { status: { phase: 'Running' } });
  await world.time.runFor(600_000);
  assert.deepEqual(only(world), request);
  assert.equal(world.outcomes.get('cr_created'), 1);
  await world.stop();
});

test('a Pod that ended loses its request while its object stays; one that goes takes it along', async () => {
  const world = await started();
  world.pod('job');
  world.pod('web');
  await world.time.runFor(1_000);
  world.finish('job');
  world.ask('DELETE', `${PODS_PATH}/web`);
  await world.time.runFor(60_000);
  assert.deepEqual(world.requests(), []);
  assert.equal(world.list(PODS_PATH).length, 1);
  await world.stop();
});

test('a terminating Pod keeps its request until it is gone', async () => {
  const world = await started();
  world.node('n1', { 'bigfleet.lucy.sh/machine-id': 'm1' });
  world.pod('web');
  world.bind('web', 'n1');
  await world.time.runFor(1_000);
  world.ask('DELETE', `${PODS_PATH}/web`);
  await world.time.runFor(5_000);
  assert.equal(world.requests().length, 1);
  world.ask('DELETE', `${PODS_PATH}/web`, { gracePeriodSeconds: 0 });
  await world.time.runFor(60_000);
  assert.equal(world.requests().length, 0);
  await world.stop();
});

test('mirror, gated and ignored Pods have no request; a cleared gate brings one', async () => {
  const world = await started({ daemonSetPods: 'ignore' });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true };
  world.pod('mirror', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } });
  world.pod('gated', { spec: { schedulingGates: [{ name: 'queue' }] } });
  world.pod('daemon', { metadata: { ownerReferences: [owner] } });
  await world.time.runFor(2_000);
  assert.deepEqual(world.requests(), []);
  world.merge(`${PODS_PATH}/gated`, { spec: { schedulingGates: null } });
  await world.time.runFor(2_000);
  assert.match(only(world).metadata.name, /^cr-pod-gated-/);
  await world.stop();
});

test('of two requests for one Pod the older stays', async () => {
  const world = await started();
  world.pod('web');
  await world.time.runFor(2_000);
  const first = only(world);
  world.ask('POST', REQUESTS_PATH, {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: {
      name: 'other',
      labels: first.metadata.labels,
      ownerReferences: first.metadata.ownerReferences,
    },
    spec: first.spec,
  });
  await world.time.runFor(2_000);
  assert.equal(only(world).metadata.name, first.metadata.name);
  assert.equal(world.outcomes.get('duplicate_deleted'), 1);
  await world.stop();
});

test('a request that somebody deleted comes back; an acknowledgement is never undone', async () => {
  const world = await started();
  world.pod('web');
  await world.time.runFor(2_000);
  const path = `${REQUESTS_PATH}/${only(world).metadata.name}`;
  world.merge(`${path}/status`, { status: { phase: 'Acknowledged' } });
  await world.time.runFor(60_000);
  assert.equal(only(world).status?.['phase'], 'Acknowledged');
  world.ask('DELETE', path);
  await world.time.runFor(5_000);
  assert.equal(only(world).status?.['phase'], 'Pending');
  await world.stop();
});

test("a Pod's change reaches the request, and a person's edit of another field holds", async () => {
  const world = await started();
  world.pod('web');
  await world.time.runFor(2_000);
  const path = `${REQUESTS_PATH}/${only(world).metadata.name}`;
  world.merge(path, { spec: { priority: 99 } });
  const annotations = { 'bigfleet.lucy.sh/interruption-penalty': '64' };
  world.merge(`${PODS_PATH}/web`, { metadata: { annotations } });
  await world.time.runFor(2_000);
  const { spec } = only(world);
  assert.deepEqual([spec['priority'], spec['interruptionPenalty']], [99, '64']);
  world.merge(`${PODS_PATH}/web`, {
    metadata: { annotations: { 'bigfleet.lucy.sh/interruption-penalty': null } },
  });
  await world.time.runFor(2_000);
  assert.deepEqual(
    [only(world).spec['priority'], only(world).spec['interruptionPenalty']],
    [99, undefined],
  );
  await world.stop();
});

test('an annotation that is no quantity is told to the Pod in an Event', async () => {
  const world = await started();
  const annotations = { 'bigfleet.lucy.sh/interruption-penalty': 'lots' };
  world.pod('web', { metadata: { annotations } });
  await world.time.runFor(2_000);
  const events = world.list('/api/v1/namespaces/default/events') as unknown as { reason: string }[];
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['BadPenalty'],
  );
  await world.stop();
});

test('a Pod on a foreign node is marked after five minutes, and cleared when the node is ours', async () => {
  const world = await started();
  world.node('static');
  world.pod('web');
  world.bind('web', 'static');
  await world.time.runFor(240_000);
  assert.equal(only(world).metadata.labels?.[FOREIGN], undefined);
  await world.time.runFor(120_000);
  assert.equal(only(world).metadata.labels?.[FOREIGN], 'true');
  world.ask('POST', '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes', {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'UpcomingNode',
    metadata: { name: 'un-m1' },
    spec: { resources: {} },
  });
  world.merge('/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes/un-m1/status', {
    status: { phase: 'Ready', nodeRef: { kind: 'Node', name: 'static' } },
  });
  await world.time.runFor(2_000);
  assert.equal(only(world).metadata.labels?.[FOREIGN], undefined);
  await world.stop();
});

test('Pods that run on static nodes when the controller first comes are marked from their creation on', async () => {
  const world = new World('1');
  world.node('static');
  for (const name of ['a', 'b', 'c']) {
    world.pod(name);
    world.bind(name, 'static');
  }
  await world.time.runFor(400_000);
  // The lists of nodes are slow: whose node it is must be known first.
  const restore = world.server.faults.add(
    { pathPrefix: '/api/v1/nodes' },
    { kind: 'refuse', code: 503 },
  );
  world.restart();
  world.pod('waiting');
  await world.time.runFor(30_000);
  assert.deepEqual(
    world.requests().map(({ metadata }) => metadata.labels?.[FOREIGN]),
    [undefined],
  );
  restore();
  await world.time.runFor(60_000);
  const marks = world.requests().map(({ metadata }) => metadata.labels?.[FOREIGN]);
  assert.equal(marks.length, 4);
  assert.equal(marks.filter((mark) => mark === 'true').length, 3);
  assert.equal(world.outcomes.get('foreign_marked'), undefined);
  await world.stop();
});

test('a node with the label of its machine is never judged foreign', async () => {
  const world = await started();
  world.node('ours', { 'bigfleet.lucy.sh/machine-id': 'm1' });
  world.pod('web');
  world.bind('web', 'ours');
  await world.time.runFor(3_600_000);
  assert.equal(only(world).metadata.labels?.[FOREIGN], undefined);
  await world.stop();
});

test('without the CRD nothing is written and nothing ends; with it, all Pods get their request', async () => {
  const world = new World('1');
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const crd = world.ask('GET', `${path}/capacityrequests.bigfleet.lucy.sh`);
  world.ask('DELETE', `${path}/capacityrequests.bigfleet.lucy.sh`);
  world.restart();
  world.pod('web');
  await world.time.runFor(120_000);
  const { name } = crd['metadata'] as { name: string };
  world.ask('POST', path, { ...crd, metadata: { name }, status: undefined });
  await world.time.runFor(120_000);
  only(world);
  await world.stop();
});

const SEEDS = 30;

test(`one request per Pod after any churn, restart and fault (${SEEDS} seeds)`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await churn(seed);
});

async function churn(seed: number): Promise<void> {
  const world = new World(String(seed));
  const random = createRandom(`churn ${seed}`);
  world.restart();
  world.node('ours', { 'bigfleet.lucy.sh/machine-id': 'm1' });
  let next = 0;
  for (let step = 0; step < 40; step++) {
    const pods = world.list(PODS_PATH);
    const any = pods[random.below(Math.max(1, pods.length))]?.metadata.name;
    switch (random.below(8)) {
      case 0:
      case 1:
        for (let i = random.below(10); i >= 0; i--) world.pod(`pod-${next++}`);
        break;
      case 2:
        if (any !== undefined) world.finish(any);
        break;
      case 3:
        if (any !== undefined)
          world.ask('DELETE', `${PODS_PATH}/${any}`, { gracePeriodSeconds: 0 });
        break;
      case 4:
        world.restart();
        break;
      case 5:
        world.server.faults.add(
          { share: random.float(), times: 1 + random.below(20) },
          random.below(2) === 0 ? { kind: 'reset-after' } : { kind: 'refuse', code: 503 },
        );
        break;
      case 6:
        world.server.compact();
        break;
      default:
        world.server.faults.add({ isWatch: true, times: 3 }, { kind: 'hang' });
    }
    await world.time.runFor(random.below(5_000));
  }
  world.server.faults.clear();
  await world.time.runFor(300_000);
  const alive = world.list(PODS_PATH).filter(({ status }) => status?.['phase'] !== 'Succeeded');
  const requests = world.requests();
  assert.equal(requests.length, alive.length, `seed ${seed}`);
  assert.deepEqual(
    new Set(requests.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)),
    new Set(alive.map(({ metadata }) => metadata.uid)),
    `seed ${seed}`,
  );
  await world.stop();
}

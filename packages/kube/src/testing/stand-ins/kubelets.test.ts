// The stand-in kubelets on the test API server, under virtual time: nodes from blobs, Pods that run and end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient } from '../../api/client.ts';
import { WriteLanes } from '../../api/lanes.ts';
import { asList, at, metaOf, textAt } from '../api-server/json.ts';
import { InMemoryTransport } from '../in-memory-transport.ts';
import { pod, PODS_PATH, type TestCluster, testCluster } from '../test-cluster.ts';
import { JOIN_TEMPLATE, readJoinBlob } from './join-blob.ts';
import { Kubelets, type KubeletsOptions } from './kubelets.ts';

const NODES_PATH = '/api/v1/nodes';
const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const BLOB = '--node-labels=bigfleet.lucy.sh/machine-id=m-1,pool=blue';

interface Stage extends TestCluster {
  readonly kubelets: Kubelets;
  readonly problems: string[];
  stop(): void;
}

function stage(more: Partial<KubeletsOptions> = {}): Stage {
  const cluster = testCluster();
  const { runtime } = cluster.time;
  const transport = new InMemoryTransport({ runtime, server: cluster.server });
  const lanes = new WriteLanes({ runtime, qps: 1000, burst: 1000 });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'kubelet' });
  const ender = new AbortController();
  const problems: string[] = [];
  const kubelets = new Kubelets({
    runtime,
    client,
    signal: ender.signal,
    onProblem: (problem) => problems.push(problem),
    ...more,
  });
  void kubelets.run().catch((bug: unknown) => assert.fail(String(bug)));
  const stop = (): void => ender.abort(new BigFleetError('cancelled', 'the test is over'));
  return { ...cluster, kubelets, problems, stop };
}

async function join({ kubelets, time }: Stage, name: string, blob = BLOB): Promise<void> {
  const joining = kubelets.join({ name, providerId: `test://${name}` }, blob);
  await time.runFor(1_000);
  assert.equal((await joining).kind, 'joined');
}

function conditionOf(object: unknown, type: string): string {
  const conditions = asList(at(object, 'status', 'conditions'));
  return textAt(
    conditions.find((one) => textAt(one, 'type') === type),
    'status',
  );
}

test('a node registers with the labels, name and taints of its blob, and becomes Ready', async () => {
  const world = stage();
  const blob = `${BLOB}\n --hostname-override=n-7 --register-with-taints=gpu=yes:NoSchedule`;
  await join(world, 'n-1', blob);
  const { object } = world.ask('GET', `${NODES_PATH}/n-7`);
  assert.equal(textAt(object, 'metadata', 'labels', 'bigfleet.lucy.sh/machine-id'), 'm-1');
  assert.equal(textAt(object, 'metadata', 'labels', 'pool'), 'blue');
  assert.equal(textAt(object, 'spec', 'providerID'), 'test://n-1');
  assert.equal(conditionOf(object, 'Ready'), 'True');
  assert.deepEqual(at(object, 'spec', 'taints'), [
    { key: 'gpu', value: 'yes', effect: 'NoSchedule' },
  ]);
  assert.equal(textAt(object, 'status', 'allocatable', 'cpu'), '4');
  world.stop();
});

test('a Node that goes while a kubelet takes it over is registered again', async () => {
  const world = stage();
  world.ask('POST', NODES_PATH, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-1' } });
  const slow = { methods: ['PATCH'], pathPrefix: NODES_PATH, times: 1 };
  world.server.faults.add(slow, { kind: 'latency', ms: 500 });
  world.time.runtime.timers.after(250, () => world.ask('DELETE', `${NODES_PATH}/n-1`));
  await join(world, 'n-1');
  assert.equal(conditionOf(world.ask('GET', `${NODES_PATH}/n-1`).object, 'Ready'), 'True');
  world.stop();
});

test('the Lease is renewed while the kubelet lives, and goes with its Node', async () => {
  const world = stage();
  await join(world, 'n-1');
  const renewed = (): string =>
    textAt(world.ask('GET', `${LEASES_PATH}/n-1`).object, 'spec', 'renewTime');
  const first = renewed();
  await world.time.runFor(25_000);
  assert.notEqual(renewed(), first);
  const leaving = world.kubelets.leave('n-1');
  await world.time.runFor(1_000);
  await leaving;
  assert.equal(world.ask('GET', `${NODES_PATH}/n-1`).status, 404);
  assert.equal(world.ask('GET', `${LEASES_PATH}/n-1`).status, 404);
  world.stop();
});

test('a bound Pod runs, whether it was bound before or after its node joined', async () => {
  const world = stage();
  const { ask, time } = world;
  ask('POST', PODS_PATH, pod('early', { spec: { nodeName: 'n-1' } }));
  ask('POST', PODS_PATH, pod('elsewhere', { spec: { nodeName: 'n-2' } }));
  await join(world, 'n-1');
  ask('POST', PODS_PATH, pod('late'));
  ask('POST', `${PODS_PATH}/late/binding`, { target: { kind: 'Node', name: 'n-1' } });
  await time.runFor(1_000);
  for (const name of ['early', 'late']) {
    const { object } = ask('GET', `${PODS_PATH}/${name}`);
    assert.equal(textAt(object, 'status', 'phase'), 'Running');
    assert.equal(conditionOf(object, 'Ready'), 'True');
    assert.equal(asList(at(object, 'status', 'containerStatuses')).length, 1);
  }
  const { object } = ask('GET', `${PODS_PATH}/elsewhere`);
  assert.equal(textAt(object, 'status', 'phase'), 'Pending');
  world.stop();
});

test('a Pod that was told to end ends, also one that ended its work before', async () => {
  const world = stage();
  const { ask, time, kubelets } = world;
  await join(world, 'n-1');
  for (const name of ['a', 'b']) ask('POST', PODS_PATH, pod(name, { spec: { nodeName: 'n-1' } }));
  await time.runFor(1_000);
  const finishing = kubelets.finishPod('default', 'b', 'Succeeded');
  await time.runFor(1_000);
  await finishing;
  assert.equal(textAt(ask('GET', `${PODS_PATH}/b`).object, 'status', 'phase'), 'Succeeded');
  for (const name of ['a', 'b']) ask('DELETE', `${PODS_PATH}/${name}`);
  await time.runFor(1_000);
  for (const name of ['a', 'b']) assert.equal(ask('GET', `${PODS_PATH}/${name}`).status, 404);
  world.stop();
});

test('a silent machine does nothing for its Pods, and its heartbeat stops', async () => {
  const world = stage();
  const { ask, time, kubelets } = world;
  await join(world, 'n-1');
  ask('POST', PODS_PATH, pod('a', { spec: { nodeName: 'n-1' } }));
  await time.runFor(1_000);
  kubelets.silence('n-1');
  const renewTime = (): string =>
    textAt(ask('GET', `${LEASES_PATH}/n-1`).object, 'spec', 'renewTime');
  const last = renewTime();
  ask('DELETE', `${PODS_PATH}/a`);
  await time.runFor(60_000);
  assert.equal(renewTime(), last);
  assert.notEqual(metaOf(ask('GET', `${PODS_PATH}/a`).object)['deletionTimestamp'], undefined);
  await join(world, 'n-1');
  await time.runFor(1_000);
  assert.equal(ask('GET', `${PODS_PATH}/a`).status, 404);
  world.stop();
});

test('a machine that comes back finds its Node with the cordon that it had', async () => {
  const world = stage();
  await join(world, 'n-1');
  world.merge(`${NODES_PATH}/n-1`, { spec: { unschedulable: true } });
  world.kubelets.silence('n-1');
  await join(world, 'n-1', '--node-labels=pool=green');
  const { object } = world.ask('GET', `${NODES_PATH}/n-1`);
  assert.equal(at(object, 'spec', 'unschedulable'), true);
  assert.equal(textAt(object, 'metadata', 'labels', 'pool'), 'green');
  world.stop();
});

test('a node says that it is not ready, and that it is again', async () => {
  const world = stage();
  await join(world, 'n-1');
  for (const [isReady, said] of [
    [false, 'False'],
    [true, 'True'],
  ] as const) {
    const saying = world.kubelets.setReady('n-1', isReady);
    await world.time.runFor(1_000);
    await saying;
    assert.equal(conditionOf(world.ask('GET', `${NODES_PATH}/n-1`).object, 'Ready'), said);
  }
  world.stop();
});

test('a Node and a Pod that others call silent while the kubelet lives are Ready again', async () => {
  const world = stage();
  const { ask, merge, time } = world;
  await join(world, 'n-1');
  ask('POST', PODS_PATH, pod('a', { spec: { nodeName: 'n-1' } }));
  await time.runFor(1_000);
  // As the node controller does when no heartbeat reached it.
  for (const path of [`${NODES_PATH}/n-1`, `${PODS_PATH}/a`]) {
    merge(`${path}/status`, { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
  }
  await time.runFor(11_000);
  for (const path of [`${NODES_PATH}/n-1`, `${PODS_PATH}/a`]) {
    assert.equal(conditionOf(ask('GET', path).object, 'Ready'), 'True', path);
  }
  const { resourceVersion } = metaOf(ask('GET', `${NODES_PATH}/n-1`).object);
  await time.runFor(30_000);
  const later = metaOf(ask('GET', `${NODES_PATH}/n-1`).object);
  assert.equal(later['resourceVersion'], resourceVersion, 'nothing to say, nothing written');
  world.stop();
});

test('a join that a starting API server denies comes again', async () => {
  const world = stage();
  const denied = { methods: ['POST'], pathPrefix: NODES_PATH, times: 1 };
  world.server.faults.add(denied, { kind: 'refuse', code: 403 });
  await join(world, 'n-1');
  assert.equal(conditionOf(world.ask('GET', `${NODES_PATH}/n-1`).object, 'Ready'), 'True');
  world.stop();
});

test('a token that the cluster refuses registers nothing', async () => {
  const world = stage({ checkToken: () => Promise.resolve('the token has expired') });
  const joining = world.kubelets.join({ name: 'n-1' }, '--token abcdef.0123456789abcdef');
  await world.time.runFor(1_000);
  assert.deepEqual(await joining, { kind: 'refused', problem: 'the token has expired' });
  assert.equal(world.ask('GET', `${NODES_PATH}/n-1`).status, 404);
  world.stop();
});

test('writes that the server refuses for a while come again', async () => {
  const world = stage();
  const { ask, time, server, problems } = world;
  await join(world, 'n-1');
  server.faults.add({ methods: ['PATCH'], times: 3 }, { kind: 'refuse', code: 500 });
  ask('POST', PODS_PATH, pod('a', { spec: { nodeName: 'n-1' } }));
  await time.runFor(5_000);
  assert.equal(textAt(ask('GET', `${PODS_PATH}/a`).object, 'status', 'phase'), 'Running');
  assert.ok(problems.length > 0);
  world.stop();
});

test('the shipped template names the cluster, the machine and its token', () => {
  const text = JOIN_TEMPLATE.replace('{{ .ClusterID }}', 'c-1')
    .replace('{{ .MachineIDLabel }}', 'm-1')
    .replace('{{ .BootstrapToken }}', 'abcdef.0123456789abcdef');
  const blob = readJoinBlob(text);
  assert.equal(blob.clusterId, 'c-1');
  assert.deepEqual(blob.labels, { 'bigfleet.lucy.sh/machine-id': 'm-1' });
  assert.equal(blob.token, 'abcdef.0123456789abcdef');
  assert.equal(blob.nodeName, undefined);
});

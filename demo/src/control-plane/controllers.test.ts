// Proves, on the test API server under virtual time, that a Deployment has the Pods that it asks for and no
// other, whatever happens to them, and that Pods without a node are taken away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient, type Pod, WriteLanes } from '@bigfleet/kube';
import {
  InMemoryTransport,
  PODS_PATH,
  type TestCluster,
  testCluster,
} from '@bigfleet/kube/testing';
import { Deployments } from './deployments.ts';
import { collectPods } from './pod-collector.ts';

const DEPLOYMENTS_PATH = '/apis/apps/v1/namespaces/default/deployments';
const NODES_PATH = '/api/v1/nodes';

interface Stage extends TestCluster {
  readonly problems: string[];
  pods(): readonly Pod[];
  deploy(name: string, replicas: number): void;
  stop(): Promise<void>;
}

function stage(): Stage {
  const cluster = testCluster();
  const { server, ask, time } = cluster;
  const { runtime } = time;
  const ender = new AbortController();
  const problems: string[] = [];
  const client = new KubeClient({
    runtime,
    transport: new InMemoryTransport({ runtime, server }),
    lanes: new WriteLanes({ runtime, qps: 1_000, burst: 1_000 }),
    fieldManager: 'test',
  });
  const options = {
    runtime,
    client,
    signal: ender.signal,
    onProblem: (problem: string) => void problems.push(problem),
  };
  const running = Promise.all([new Deployments(options).run(), collectPods(options)]);
  return {
    ...cluster,
    problems,
    pods: () => [...server.store.values('/pods')].map(({ object }) => object as unknown as Pod),
    deploy: (name, replicas) => {
      const labels = { app: name };
      const containers = [{ name: 'main', image: `${name}:1` }];
      const template = { metadata: { labels }, spec: { containers } };
      const spec = { replicas, selector: { matchLabels: labels }, template };
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
      assert.equal(ask('POST', DEPLOYMENTS_PATH, body).status, 201);
    },
    stop: async () => {
      ender.abort(new BigFleetError('cancelled', 'the test is over'));
      await time.runFor(1_000);
      await running;
    },
  };
}

function readyOf({ ask }: Stage, name: string): unknown {
  const { status } = ask('GET', `${DEPLOYMENTS_PATH}/${name}`).object as {
    readonly status?: { readonly replicas?: number; readonly readyReplicas?: number };
  };
  return [status?.readyReplicas, status?.replicas];
}

test('Pods follow the replicas, up and down, and are made once', async () => {
  const world = stage();
  const { merge, time, pods } = world;
  world.deploy('web', 5);
  world.deploy('other', 1);
  await time.runFor(1_000);
  assert.equal(pods().length, 6);
  const [first] = pods();
  assert.match(first?.metadata.name ?? '', /^(?:web|other)-[a-z0-9]{5}$/);
  assert.equal(first?.metadata.ownerReferences?.[0]?.kind, 'Deployment');
  merge(`${DEPLOYMENTS_PATH}/web/scale`, { spec: { replicas: 2 } });
  await time.runFor(1_000);
  assert.equal(pods().length, 3);
  assert.deepEqual(readyOf(world, 'web'), [0, 2]);
  assert.deepEqual(world.problems, []);
  await world.stop();
});

test('a Pod that runs outlives one that waits, and one that was deleted is replaced', async () => {
  const world = stage();
  const { ask, merge, time, pods } = world;
  world.deploy('web', 3);
  await time.runFor(1_000);
  const [, running, gone] = pods().map(({ metadata }) => metadata.name);
  merge(`${PODS_PATH}/${running}/status`, { status: { phase: 'Running' } });
  ask('DELETE', `${PODS_PATH}/${gone}`);
  await time.runFor(1_000);
  assert.equal(pods().length, 3);
  assert.deepEqual(readyOf(world, 'web'), [1, 3]);
  merge(`${DEPLOYMENTS_PATH}/web/scale`, { spec: { replicas: 1 } });
  await time.runFor(1_000);
  assert.deepEqual(
    pods().map(({ metadata }) => metadata.name),
    [running],
  );
  await world.stop();
});

test('a Deployment takes its Pods along, and leaves those of others', async () => {
  const world = stage();
  const { ask, time, pods } = world;
  world.deploy('web', 2);
  world.deploy('other', 1);
  await time.runFor(1_000);
  ask('DELETE', `${DEPLOYMENTS_PATH}/web`);
  await time.runFor(5_000);
  assert.deepEqual(
    pods().map(({ metadata }) => metadata.labels?.['app']),
    ['other'],
  );
  await world.stop();
});

test('a server that refuses for a while is asked again, and no Pod is made twice', async () => {
  const world = stage();
  const { server, time, pods } = world;
  server.faults.add({ methods: ['POST'], times: 3 }, { kind: 'refuse', code: 500 });
  world.deploy('web', 4);
  await time.runFor(10_000);
  assert.equal(pods().length, 4);
  assert.ok(world.problems.length > 0);
  await world.stop();
});

test('a Pod whose node is gone is taken away, and its Deployment makes another', async () => {
  const world = stage();
  const { ask, time, pods } = world;
  ask('POST', NODES_PATH, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-1' } });
  world.deploy('web', 1);
  await time.runFor(1_000);
  const name = pods()[0]?.metadata.name ?? '';
  ask('POST', `${PODS_PATH}/${name}/binding`, { target: { kind: 'Node', name: 'n-1' } });
  await time.runFor(5_000);
  assert.deepEqual(
    pods().map(({ metadata }) => metadata.name),
    [name],
  );
  ask('DELETE', `${NODES_PATH}/n-1`);
  await time.runFor(5_000);
  assert.equal(pods().length, 1);
  assert.notEqual(pods()[0]?.metadata.name, name);
  await world.stop();
});

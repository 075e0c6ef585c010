// The controllers inside the server: garbage collection, disruption budgets with evictions, the end of
// namespaces, and the taints of nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PODS_PATH, type TestCluster, testCluster } from '../test-cluster.ts';
import { asList, at, metaOf, type Obj, textAt } from './json.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';

function owned(name: string, owner: Obj, more: Obj = {}): Obj {
  const reference = {
    apiVersion: 'v1',
    kind: 'Pod',
    name: metaOf(owner)['name'],
    uid: metaOf(owner)['uid'],
    ...more,
  };
  return { metadata: { name, ownerReferences: [reference] } };
}

test('dependents of a deleted owner go in the background, unless another owner lives', async () => {
  const { ask, time } = testCluster();
  const first = ask('POST', PODS_PATH, pod('a')).object;
  const second = ask('POST', PODS_PATH, pod('b')).object;
  ask('POST', MAPS, owned('one', first));
  const both = owned('both', first);
  asList(metaOf(both)['ownerReferences']).push(
    ...asList(metaOf(owned('x', second))['ownerReferences']),
  );
  ask('POST', MAPS, both);
  ask('DELETE', `${PODS_PATH}/a`);
  assert.equal(ask('GET', `${MAPS}/one`).status, 200);
  await time.runFor(100);
  assert.equal(ask('GET', `${MAPS}/one`).status, 404);
  const left = ask('GET', `${MAPS}/both`).object;
  assert.deepEqual(
    asList(metaOf(left)['ownerReferences']).map((one) => textAt(one, 'name')),
    ['b'],
  );
});

test('an object whose owner never was, or is another of that name, is collected', async () => {
  const { ask, time } = testCluster();
  const owner = ask('POST', PODS_PATH, pod('a')).object;
  ask('POST', MAPS, owned('kept', owner));
  ask('POST', MAPS, owned('wrong', owner, { uid: 'another' }));
  await time.runFor(100);
  assert.equal(ask('GET', `${MAPS}/kept`).status, 200);
  assert.equal(ask('GET', `${MAPS}/wrong`).status, 404);
});

test('foreground deletion takes the dependents first; orphaning keeps them', async () => {
  const { ask, merge, time } = testCluster();
  const owner = ask('POST', PODS_PATH, pod('a')).object;
  ask('POST', MAPS, owned('held', owner, { blockOwnerDeletion: true }));
  merge(`${MAPS}/held`, { metadata: { finalizers: ['example.org/hold'] } });
  ask('DELETE', `${PODS_PATH}/a`, { propagationPolicy: 'Foreground' });
  await time.runFor(100);
  assert.deepEqual(metaOf(ask('GET', `${PODS_PATH}/a`).object)['finalizers'], [
    'foregroundDeletion',
  ]);
  merge(`${MAPS}/held`, { metadata: { finalizers: null } });
  await time.runFor(100);
  assert.equal(ask('GET', `${MAPS}/held`).status, 404);
  assert.equal(ask('GET', `${PODS_PATH}/a`).status, 404);

  const other = ask('POST', PODS_PATH, pod('b')).object;
  ask('POST', MAPS, owned('orphan', other));
  ask('DELETE', `${PODS_PATH}/b`, { propagationPolicy: 'Orphan' });
  await time.runFor(100);
  assert.equal(ask('GET', `${PODS_PATH}/b`).status, 404);
  assert.equal(metaOf(ask('GET', `${MAPS}/orphan`).object)['ownerReferences'], undefined);
});

/** A Pod that runs on a node, Ready unless told otherwise. */
function running(cluster: TestCluster, name: string, isReady = true): Obj {
  const { ask, merge } = cluster;
  ask('POST', PODS_PATH, pod(name, { labels: { app: 'web' } }));
  ask('POST', `${PODS_PATH}/${name}/binding`, { target: { name: 'n1' } });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  return merge(`${PODS_PATH}/${name}/status`, { status: { phase: 'Running', conditions } }).object;
}

function evict(
  { ask }: TestCluster,
  name: string,
  deleteOptions: Obj = {},
): ReturnType<TestCluster['ask']> {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: 'default' },
    deleteOptions,
  };
  return ask('POST', `${PODS_PATH}/${name}/eviction`, body);
}

function budget(name: string, spec: Obj): Obj {
  return { metadata: { name }, spec: { selector: { matchLabels: { app: 'web' } }, ...spec } };
}

test('a budget lets as many evictions through as it has healthy Pods to spare', async () => {
  const cluster = testCluster();
  const { ask, time } = cluster;
  for (const name of ['a', 'b', 'c']) running(cluster, name);
  ask('POST', BUDGETS, budget('keep', { minAvailable: 2 }));
  const early = evict(cluster, 'a');
  assert.equal(early.status, 429);
  assert.deepEqual(at(early.object, 'details', 'causes'), [
    {
      reason: 'DisruptionBudget',
      message: 'The disruption budget keep is still being processed by the server.',
    },
  ]);
  await time.runFor(100);
  const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = ask(
    'GET',
    `${BUDGETS}/keep`,
  ).object['status'] as Obj;
  assert.deepEqual(
    [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed],
    [3, 2, 3, 1],
  );
  assert.equal(evict(cluster, 'a', { preconditions: { uid: 'other' } }).status, 409);
  const granted = evict(cluster, 'a');
  assert.deepEqual([granted.status, granted.object['status']], [201, 'Success']);
  const refused = evict(cluster, 'b');
  assert.equal(refused.status, 429);
  assert.equal(
    refused.object['message'],
    "Cannot evict pod as it would violate the pod's disruption budget.",
  );
  await time.runFor(100);
  assert.deepEqual(at(evict(cluster, 'b').object, 'details', 'causes'), [
    {
      reason: 'DisruptionBudget',
      message: 'The disruption budget keep needs 2 healthy pods and has 2 currently',
    },
  ]);
  assert.equal(at(ask('GET', `${BUDGETS}/keep`).object, 'status', 'disruptedPods'), undefined);
  assert.equal(
    at(ask('GET', `${PODS_PATH}/a`).object, 'metadata', 'deletionGracePeriodSeconds'),
    30,
  );
});

test('two budgets for one Pod are 500, and a Pod that does not run needs no budget', async () => {
  const cluster = testCluster();
  const { ask, time } = cluster;
  running(cluster, 'a');
  ask('POST', PODS_PATH, pod('waiting', { labels: { app: 'web' } }));
  ask('POST', BUDGETS, budget('one', { minAvailable: 5 }));
  ask('POST', BUDGETS, budget('two', { minAvailable: 5 }));
  await time.runFor(100);
  const both = evict(cluster, 'a');
  assert.equal(both.status, 500);
  assert.match(String(both.object['message']), /more than one PodDisruptionBudget/);
  assert.equal(evict(cluster, 'waiting').status, 201);
  assert.equal(ask('GET', `${PODS_PATH}/waiting`).status, 404);
});

test('percentages and maxUnavailable count against what the Pods’ controller wants', async () => {
  const cluster = testCluster();
  const { ask, merge, time } = cluster;
  const set = ask('POST', '/apis/apps/v1/namespaces/default/replicasets', {
    metadata: { name: 'rs' },
    spec: { replicas: 5 },
  }).object;
  const reference = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'rs',
    uid: metaOf(set)['uid'],
    controller: true,
  };
  for (const name of ['a', 'b', 'c', 'd']) {
    running(cluster, name);
    merge(`${PODS_PATH}/${name}`, { metadata: { ownerReferences: [reference] } });
  }
  ask('POST', BUDGETS, budget('share', { maxUnavailable: '30%' }));
  await time.runFor(100);
  const status = ask('GET', `${BUDGETS}/share`).object['status'] as Obj;
  // 30 % of 5 is 1.5, rounded up to 2: three must stay.
  assert.deepEqual(
    [status['expectedPods'], status['desiredHealthy'], status['disruptionsAllowed']],
    [5, 3, 1],
  );
});

test('a namespace that is deleted takes its content along and refuses new', async () => {
  const { ask, time } = testCluster();
  ask('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  ask('POST', '/api/v1/namespaces/team/pods', pod('a'));
  assert.equal(
    textAt(ask('DELETE', '/api/v1/namespaces/team').object, 'status', 'phase'),
    'Terminating',
  );
  const late = ask('POST', '/api/v1/namespaces/team/pods', pod('b'));
  assert.equal(late.status, 403);
  assert.match(
    String(late.object['message']),
    /unable to create new content in namespace team because it is being terminated/,
  );
  await time.runFor(100);
  assert.equal(ask('GET', '/api/v1/namespaces/team').status, 404);
  assert.deepEqual(ask('GET', '/api/v1/namespaces/team/pods').object['items'], []);
});

test('a node loses its first taint once it is Ready and carries one while it is cordoned', async () => {
  const { ask, merge, time } = testCluster();
  ask('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const keys = (): string[] =>
    asList(at(ask('GET', '/api/v1/nodes/n1').object, 'spec', 'taints')).map((one) =>
      textAt(one, 'key'),
    );
  await time.runFor(100);
  assert.deepEqual(keys(), ['node.kubernetes.io/not-ready']);
  merge('/api/v1/nodes/n1/status', { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  merge('/api/v1/nodes/n1', { spec: { unschedulable: true } });
  await time.runFor(100);
  assert.deepEqual(keys(), ['node.kubernetes.io/unschedulable']);
  assert.equal(
    asList(ask('GET', '/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue').object['items'])
      .length,
    1,
  );
});

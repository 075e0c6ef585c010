// The control plane of the tests is a real one: it schedules, collects, evicts, and survives its own restarts;
// the stand-in kubelets work on it as they do on the test API server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type RunningKubelets, startKubelets } from './world/kubelets.ts';

const skip = skipWithout('controlPlane');
let plane: ControlPlane;
let nodes: RunningKubelets;

before(async () => {
  if (skip !== false) return;
  plane = await startControlPlane();
  nodes = await startKubelets(plane);
});

after(async () => {
  await nodes?.[Symbol.asyncDispose]();
  await plane?.[Symbol.asyncDispose]();
});

async function podOf(path: string): Promise<{ spec: Json; status: Json }> {
  return (await plane.admin.must(plane.admin.get(path))) as unknown as { spec: Json; status: Json };
}

function pod(name: string, labels: Json = {}): Json {
  const resources = { requests: { cpu: '500m' } };
  return {
    metadata: { name, labels },
    spec: { containers: [{ name: 'main', image: 'app:1', resources }] },
  };
}

test('a Pod waits until a node joins, is bound by kube-scheduler, runs, and ends', {
  skip,
}, async (t) => {
  plane.explainFailures(t);
  const { admin } = plane;
  const pods = `/api/v1/namespaces/${await plane.namespace('walk')}/pods`;
  await admin.must(admin.create(pods, pod('a')));
  await eventually(
    async () => JSON.stringify((await podOf(`${pods}/a`)).status).includes('Unschedulable'),
    { what: 'the Pod is told that nothing fits' },
  );
  const joined = await nodes.kubelets.join(
    { name: 'walk-1', providerId: 'test://walk-1' },
    '--node-labels=bigfleet.lucy.sh/machine-id=m-1',
  );
  assert.equal(joined.kind, 'joined');
  await eventually(async () => (await podOf(`${pods}/a`)).status['phase'] === 'Running', {
    what: 'the Pod runs',
  });
  assert.equal((await podOf(`${pods}/a`)).spec['nodeName'], 'walk-1');
  await admin.must(admin.delete(`${pods}/a`));
  await eventually(async () => (await admin.get(`${pods}/a`)).status === 404, {
    what: 'the Pod is gone',
  });
  await nodes.kubelets.leave('walk-1');
  await eventually(async () => (await admin.get('/api/v1/nodes/walk-1')).status === 404, {
    what: 'the Node is gone',
  });
});

test("what an object owns is collected, also BigFleet's own kinds", { skip }, async (t) => {
  plane.explainFailures(t);
  const { admin } = plane;
  const namespace = await plane.namespace('collected');
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const requests = `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/${namespace}/capacityrequests`;
  const { metadata } = await admin.must(admin.create(pods, pod('owner')));
  const { uid } = metadata as { uid: string };
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'owner', uid, controller: true };
  await admin.must(
    admin.create(requests, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: 'owned', ownerReferences: [owner] },
      spec: { priority: 1, resources: {} },
    }),
  );
  await admin.must(admin.delete(`${pods}/owner`));
  await eventually(async () => (await admin.get(`${requests}/owned`)).status === 404, {
    what: 'the CapacityRequest is gone',
  });
});

test('a budget refuses evictions once it is observed, and lets them through when it allows them', {
  skip,
}, async (t) => {
  plane.explainFailures(t);
  const { admin } = plane;
  const namespace = await plane.namespace('budgets');
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  assert.equal((await nodes.kubelets.join({ name: 'budget-1' }, '')).kind, 'joined');
  await admin.must(admin.create(pods, pod('a', { app: 'db' })));
  await eventually(async () => (await podOf(`${pods}/a`)).status['phase'] === 'Running', {
    what: 'the Pod runs',
  });
  const selector = { matchLabels: { app: 'db' } };
  await admin.must(
    admin.create(budgets, { metadata: { name: 'db' }, spec: { minAvailable: 1, selector } }),
  );
  const evict = (): Promise<{ status: number; text: string }> =>
    admin.create(`${pods}/a/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a' },
    });
  await eventually(async () => (await evict()).text.includes('needs 1 healthy pods and has 1'), {
    what: 'the budget is observed, and refuses',
  });
  await admin.must(admin.merge(`${budgets}/db`, { spec: { minAvailable: 0 } }));
  await eventually(
    async () => (await evict()).status < 300 || (await admin.get(`${pods}/a`)).status === 404,
    {
      what: 'the loosened budget lets the Pod go',
    },
  );
  await eventually(async () => (await admin.get(`${pods}/a`)).status === 404, {
    what: 'the evicted Pod is gone',
  });
  await nodes.kubelets.leave('budget-1');
});

test('a ServiceAccount has the rights that were bound to it, and no others', { skip }, async () => {
  const { admin } = plane;
  const namespace = await plane.namespace('accounts');
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await admin.must(admin.create(accounts, { metadata: { name: 'reader' } }));
  const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }];
  await admin.must(admin.create(`${rbac}/clusterroles`, { metadata: { name: 'reader' }, rules }));
  await admin.must(
    admin.create(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
    }),
  );
  const kubeconfig = await plane.serviceAccountKubeconfig({ namespace, name: 'reader' });
  await eventually(async () => (await plane.kubectl(['get', 'nodes'], { kubeconfig })).code === 0, {
    what: 'the role is in force',
  });
  const { code, output } = await plane.kubectl(['get', 'pods', '-A'], { kubeconfig });
  assert.equal(code, 1);
  assert.match(output, /cannot list resource "pods"/);
});

test('an old resource version answers 410 after a compaction and a restart, and nothing is lost', {
  skip,
}, async (t) => {
  plane.explainFailures(t);
  const { admin } = plane;
  const namespace = await plane.namespace('restarts');
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const { metadata } = await admin.must(admin.create(maps, { metadata: { name: 'kept' } }));
  const { resourceVersion } = metadata as { resourceVersion: string };
  await admin.must(admin.create(maps, { metadata: { name: 'later' } }));
  await plane.compact();
  await plane.restartApiserver();
  const watch = await admin.watch(`${maps}?watch=true&resourceVersion=${resourceVersion}`);
  const first = watch.status === 200 ? await watch.next() : undefined;
  watch.end();
  assert.ok(
    watch.status === 410 || (first?.type === 'ERROR' && first.object['code'] === 410),
    `${watch.status} ${JSON.stringify(first)}`,
  );
  for (const name of ['kept', 'later']) {
    assert.equal((await admin.get(`${maps}/${name}`)).status, 200);
  }
});

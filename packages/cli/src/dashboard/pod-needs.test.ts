// Proves that a Pod is found as the need that its operator reports, against an API server over HTTP, and that
// whatever is missing on the way is said in words.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import type { PodNeeds } from '@bigfleet/dashboard';
import { LABELS } from '@bigfleet/kube';
import {
  createDefinitions,
  listen,
  type ListeningServer,
  PODS_PATH,
  REQUESTS_PATH,
  testCluster,
} from '@bigfleet/kube/testing';
import { readRequest } from '@bigfleet/operator';
import { openPodNeeds } from './pod-needs.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'pod-needs-'));
const cluster = testCluster();
const SPEC = { resources: { cpu: '2' }, priority: 1_000, interruptionPenalty: '7' };
let server: ListeningServer;
let needs: PodNeeds;

before(async () => {
  createDefinitions(cluster);
  server = await listen({ server: cluster.server });
  const kubeconfig = path.join(folder, 'blue.yaml');
  writeFileSync(kubeconfig, server.kubeconfig());
  const opened = await openPodNeeds({
    runtime: realRuntime(),
    env: {},
    kubeconfigs: new Map([['blue', kubeconfig]]),
    requireTls: false,
  });
  needs = opened ?? assert.fail('a cluster was named');
});
after(async () => {
  needs.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function createPod(name: string): string {
  const { status, object } = cluster.ask('POST', PODS_PATH, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'none' }] },
  });
  assert.equal(status, 201, JSON.stringify(object));
  return (object['metadata'] as { uid: string }).uid;
}

function createRequest(name: string, podUid: string, spec: object): void {
  const { status, object } = cluster.ask('POST', REQUESTS_PATH, {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name, labels: { [LABELS.ownedByPod]: podUid } },
    spec,
  });
  assert.equal(status, 201, JSON.stringify(object));
}

test('a Pod is the need of its CapacityRequest, by the operator’s own rule', async () => {
  createRequest('cr-web', createPod('web-1'), SPEC);
  createRequest('cr-other', createPod('other'), { ...SPEC, priority: 5 });
  const expected = readRequest({ namespace: 'default', spec: SPEC });
  assert.ok(expected.ok);
  const found = await needs.needOfPod('blue', 'default/web-1');
  assert.ok(found.ok, JSON.stringify(found));
  const { fingerprint } = expected.value.profile;
  assert.deepEqual(found.value, { cluster: 'blue', fingerprint, group: '' });
});

test('what is missing is said: the cluster, the Pod, its request', async () => {
  createPod('lonely');
  const cases: readonly [string, string, string, RegExp][] = [
    ['red', 'default/web-1', 'source_absent', /--kubeconfig names blue/],
    ['blue', 'default/nobody', 'pod_not_found', /has no Pod default\/nobody/],
    ['blue', 'default/lonely', 'request_not_found', /has no CapacityRequest/],
    ['blue', 'web-1', 'parameter_invalid', /write <namespace>\/<name>/],
    ['blue', '../../nodes/x', 'parameter_invalid', /write <namespace>\/<name>/],
    ['blue', 'default/a?limit=1', 'parameter_invalid', /write <namespace>\/<name>/],
  ];
  for (const [name, pod, code, message] of cases) {
    const found = await needs.needOfPod(name, pod);
    assert.ok(!found.ok, pod);
    assert.equal(found.error.code, code);
    assert.match(found.error.message, message);
  }
});

test('an API server that is gone is an answer, not a crash', async () => {
  const kubeconfig = path.join(folder, 'gone.yaml');
  writeFileSync(kubeconfig, server.kubeconfig().replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1'));
  const gone = await openPodNeeds({
    runtime: realRuntime(),
    env: {},
    kubeconfigs: new Map([['gone', kubeconfig]]),
    requireTls: false,
  });
  const found = await gone?.needOfPod('gone', 'default/web-1');
  gone?.close();
  assert.ok(found !== undefined && !found.ok);
  assert.equal(found.error.code, 'kube_unreachable');
});

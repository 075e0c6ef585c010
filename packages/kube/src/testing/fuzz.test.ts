// Whatever is asked, the server answers with an object or a Status, and never trips over it: requests
// drawn from a seed, with bodies that are valid, half valid and nonsense.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { at } from './api-server/json.ts';
import {
  capacityRequest,
  createDefinitions,
  pod,
  PODS_PATH,
  REQUESTS_PATH,
  type TestCluster,
  testCluster,
} from './test-cluster.ts';

const PATHS = [
  PODS_PATH,
  `${PODS_PATH}/a`,
  `${PODS_PATH}/a/status`,
  `${PODS_PATH}/a/binding`,
  `${PODS_PATH}/a/eviction`,
  REQUESTS_PATH,
  `${REQUESTS_PATH}/a`,
  `${REQUESTS_PATH}/a/status`,
  '/api/v1/nodes',
  '/api/v1/nodes/a',
  '/api/v1/namespaces/default',
  '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh',
  '/apis/none/v1/x',
];
const QUERIES = [
  '',
  '?limit=1',
  '?continue=zzz',
  '?labelSelector=a%20in%20(b',
  '?fieldSelector=x',
  '?resourceVersion=q',
  '?dryRun=All',
  '?dryRun=Some',
  '?fieldValidation=Strict',
];
const TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
];
const BODIES: readonly unknown[] = [
  pod('a'),
  capacityRequest('a'),
  { metadata: { name: 'a' } },
  { metadata: 'x', spec: 3 },
  { metadata: { name: 'a', labels: { a: 'b' }, finalizers: ['x/y'], ownerReferences: [{}] } },
  { metadata: { name: 'a' }, spec: { selector: { matchLabels: {} }, minAvailable: 'x' } },
  { spec: null, status: null, metadata: null },
  { status: { phase: 'Pending', conditions: 'x' } },
  { target: { name: 'a' }, deleteOptions: { preconditions: { uid: 'x' } } },
  [{ op: 'add', path: '/metadata/labels', value: {} }],
  [{ op: 'remove', path: '/nowhere/0' }, 3],
  [],
  3,
  null,
];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

/** Where the real server answers 500 to what a client did wrong. */
const FAILURES = /^(?:resourceVersion: Invalid value|target\.name: Required value)/;

function step({ ask }: TestCluster, random: Random): void {
  const method = pick(random, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
  const path = pick(random, PATHS) + pick(random, QUERIES);
  const body = method === 'GET' ? undefined : pick(random, BODIES);
  const type = method === 'PATCH' ? pick(random, TYPES) : undefined;
  const { status, object } = ask(method, path, body, type);
  const shown = `${method} ${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(object)}`;
  if (status >= 400 && object['text'] === undefined) {
    assert.deepEqual([object['kind'], at(object, 'code')], ['Status', status], shown);
  }
  assert.ok(status < 500 || FAILURES.test(String(object['message'])), shown);
}

test('no request makes the server throw', async () => {
  for (let seed = 0; seed < 40; seed++) {
    const cluster = testCluster({ seed: String(seed) });
    createDefinitions(cluster);
    const random = createRandom(String(seed));
    for (let i = 0; i < 150; i++) {
      step(cluster, random);
      if (i % 10 === 0) await cluster.time.runFor(20);
    }
  }
});

// Proves that a Pod, a definition or a server that is wrong costs other Pods nothing, and that the owner
// of the Pod can see why it has no request.

import assert from 'node:assert/strict';
import test from 'node:test';
import { PODS_PATH } from '@bigfleet/kube/testing';
import { World } from './testing/world.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CRD = `${CRDS}/capacityrequests.bigfleet.lucy.sh`;
const SPEC_SCHEMA = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';

async function started(seed = '1'): Promise<World> {
  const world = new World(seed);
  world.restart();
  await world.time.runFor(1_000);
  return world;
}

function change(world: World, ops: readonly object[]): void {
  world.ask('PATCH', CRD, ops, 'application/json-patch+json');
}

/** Whose Events have which reason. */
function warnings(world: World): string[] {
  return world.events().map(({ involvedObject, reason }) => `${involvedObject.name} ${reason}`);
}

function podsWithRequest(world: World): string[] {
  const names = new Map(world.list(PODS_PATH).map(({ metadata }) => [metadata.uid, metadata.name]));
  return world
    .requests()
    .map(({ metadata }) => names.get(metadata.ownerReferences?.[0]?.uid ?? '') ?? '')
    .toSorted();
}

test('a newer definition that demands a field refuses with its own words in an Event on the Pod', async () => {
  const world = await started();
  change(world, [
    { op: 'add', path: `${SPEC_SCHEMA}/properties/tier`, value: { type: 'string' } },
    { op: 'add', path: `${SPEC_SCHEMA}/required/-`, value: 'tier' },
  ]);
  world.pod('a');
  world.pod('b');
  await world.time.runFor(30_000);
  assert.deepEqual(podsWithRequest(world), []);
  assert.deepEqual(warnings(world).toSorted(), [
    'a CapacityRequestRefused',
    'b CapacityRequestRefused',
  ]);
  assert.match(world.events()[0]?.message ?? '', /HTTP 422 Invalid.*spec\.tier/);
  assert.match(world.failures[0] ?? '', /^default\/a: HTTP 422 Invalid/);
  const required = ['priority', 'resources'];
  change(world, [{ op: 'replace', path: `${SPEC_SCHEMA}/required`, value: required }]);
  await world.time.runFor(120_000);
  assert.deepEqual(podsWithRequest(world), ['a', 'b']);
  await world.stop();
});

test('a definition that refuses one Pod leaves the others their requests', async () => {
  const world = await started();
  change(world, [{ op: 'add', path: `${SPEC_SCHEMA}/properties/priority/maximum`, value: 999 }]);
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  world.ask('POST', classes, {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'top' },
    value: 5_000,
  });
  world.pod('refused', { spec: { priorityClassName: 'top' } });
  for (let i = 0; i < 5; i++) world.pod(`ok-${i}`);
  await world.time.runFor(60_000);
  assert.deepEqual(podsWithRequest(world), ['ok-0', 'ok-1', 'ok-2', 'ok-3', 'ok-4']);
  assert.deepEqual(warnings(world), ['refused CapacityRequestRefused']);
  await world.stop();
});

test('an older definition that knows fewer fields still gets its requests, once each', async () => {
  const world = await started();
  change(world, [{ op: 'remove', path: `${SPEC_SCHEMA}/properties/coLocation` }]);
  world.pod('a', {
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'x' } } },
          ],
        },
      },
    },
  });
  await world.time.runFor(600_000);
  const [request] = world.requests();
  assert.deepEqual(podsWithRequest(world), ['a']);
  assert.equal(request?.spec['coLocation'], undefined);
  assert.equal(world.outcomes.get('cr_created'), 1);
  assert.equal(world.outcomes.get('cr_updated') ?? 0, 0);
  await world.stop();
});

test('requests with annotations and owners that make no sense are other people’s, or mended', async () => {
  const world = await started();
  world.pod('a');
  await world.time.runFor(2_000);
  const [request] = world.requests();
  assert.ok(request !== undefined);
  const path = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests';
  for (const derived of ['{', '[]', '3', '{"priority":7}', 'x'.repeat(10_000)]) {
    world.merge(`${path}/${request.metadata.name}`, {
      metadata: { annotations: { 'bigfleet.lucy.sh/derived': derived } },
    });
    await world.time.runFor(10_000);
  }
  world.ask('POST', path, {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name: 'foreign', labels: { 'bigfleet.lucy.sh/owned-by-pod': 'no-such-uid' } },
    spec: { priority: 1, resources: {} },
  });
  world.pod('b');
  await world.time.runFor(60_000);
  assert.deepEqual(podsWithRequest(world), ['', 'a', 'b']);
  assert.deepEqual(world.failures, []);
  await world.stop();
});

test('a busy, broken or hanging server delays requests and doubles none', async () => {
  const faults = [
    { kind: 'refuse', code: 429, retryAfterSeconds: 5 },
    { kind: 'refuse', code: 429 },
    { kind: 'refuse', code: 500 },
    { kind: 'reset' },
    { kind: 'reset-after' },
    { kind: 'hang' },
  ] as const;
  for (const fault of faults) {
    const world = await started();
    const restore = world.server.faults.add({ methods: ['POST', 'PATCH'] }, fault);
    for (let i = 0; i < 8; i++) world.pod(`p${i}`);
    await world.time.runFor(90_000);
    restore();
    await world.time.runFor(300_000);
    assert.equal(podsWithRequest(world).length, 8, JSON.stringify(fault));
    assert.ok(new Set(podsWithRequest(world)).size === 8, JSON.stringify(fault));
    await world.stop();
  }
});

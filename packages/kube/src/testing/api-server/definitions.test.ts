// Custom resources: BigFleet's own definitions are served, their objects validated with the real words,
// pruned and defaulted, and a changed schema is seen by every later read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  capacityRequest,
  createDefinitions,
  eventsOf,
  REQUESTS_PATH,
  type TestCluster,
  testCluster,
} from '../test-cluster.ts';
import { asList, asObj, at, clone, metaOf, type Obj, textAt } from './json.ts';

const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEFINITION = `${DEFINITIONS_PATH}/capacityrequests.bigfleet.lucy.sh`;

function withDefinitions(): TestCluster {
  const cluster = testCluster();
  createDefinitions(cluster);
  return cluster;
}

test('before its definition a resource is unknown, afterwards it is established', () => {
  const cluster = testCluster();
  assert.equal(cluster.ask('GET', REQUESTS_PATH).status, 404);
  createDefinitions(cluster);
  assert.equal(cluster.ask('GET', REQUESTS_PATH).status, 200);
  const conditions = asList(at(cluster.ask('GET', DEFINITION).object, 'status', 'conditions'));
  assert.deepEqual(
    conditions.map((one) => `${textAt(one, 'type')}=${textAt(one, 'status')}`),
    ['NamesAccepted=True', 'Established=True'],
  );
});

test('validation speaks the real server’s words', () => {
  const { ask } = withDefinitions();
  const more =
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  const rows: readonly [Obj, string][] = [
    [{ priority: undefined }, `[spec.priority: Required value, ${more}]`],
    [
      { priority: 'x' },
      `[spec.priority: Invalid value: "string": spec.priority in body must be of type integer: "string", ${more}]`,
    ],
    [
      { requirements: [{ key: '', operator: 'In' }] },
      'spec.requirements[0].key: Invalid value: "": spec.requirements[0].key in body should be at least 1 chars long',
    ],
    [
      { requirements: [{ key: 'a', operator: 'Same' }] },
      'spec.requirements[0].operator: Invalid value: "Same": Same is not an operator of requirements; use spec.coLocation',
    ],
    [
      { resources: { cpu: true } },
      `[spec.resources.cpu: Invalid value: "boolean": spec.resources.cpu in body must be of type integer,string: "boolean", <nil>: Invalid value: "": "spec.resources.cpu" must validate at least one schema (anyOf), spec.resources.cpu: Invalid value: "boolean": spec.resources.cpu in body must be of type integer: "boolean", ${more}]`,
    ],
  ];
  for (const [spec, problem] of rows) {
    const { status, object } = ask('POST', REQUESTS_PATH, capacityRequest('a', spec));
    assert.equal(status, 422);
    assert.equal(object['message'], `CapacityRequest.bigfleet.lucy.sh "a" is invalid: ${problem}`);
  }
  const pattern = ask('POST', REQUESTS_PATH, capacityRequest('a', { interruptionPenalty: 'much' }));
  assert.match(
    String(pattern.object['message']),
    /spec\.interruptionPenalty: Invalid value: "much": spec\.interruptionPenalty in body should match '/,
  );
  const causes = asList(
    at(
      ask('POST', REQUESTS_PATH, capacityRequest('a', { priority: undefined })).object,
      'details',
      'causes',
    ),
  );
  assert.deepEqual(causes[0], {
    reason: 'FieldValueRequired',
    message: 'Required value',
    field: 'spec.priority',
  });
});

test('unknown fields are pruned, or refused where the client asks for strictness', () => {
  const { ask } = withDefinitions();
  const body = capacityRequest('a', { color: 'red' });
  const strict = ask('POST', `${REQUESTS_PATH}?fieldValidation=Strict`, body);
  assert.equal(strict.status, 400);
  assert.match(
    String(strict.object['message']),
    /strict decoding error: unknown field "spec\.color"/,
  );
  assert.equal(at(ask('POST', REQUESTS_PATH, body).object, 'spec', 'color'), undefined);
});

test('status is written through its subresource only, and moves no generation', () => {
  const { ask, merge } = withDefinitions();
  const created = ask('POST', REQUESTS_PATH, {
    ...capacityRequest('a'),
    status: { phase: 'Pending' },
  }).object;
  assert.equal(created['status'], undefined);
  assert.equal(metaOf(created)['generation'], 1);
  const path = `${REQUESTS_PATH}/a`;
  assert.equal(merge(path, { status: { phase: 'Pending' } }).object['status'], undefined);
  const wrong = merge(`${path}/status`, { status: { phase: 'Released' } });
  assert.match(
    String(wrong.object['message']),
    /status\.phase: Unsupported value: "Released": supported values: "Pending", "Acknowledged"/,
  );
  const pending = merge(`${path}/status`, {
    status: { phase: 'Pending' },
    spec: { priority: 99 },
  }).object;
  assert.deepEqual(
    [
      textAt(pending, 'status', 'phase'),
      at(pending, 'spec', 'priority'),
      metaOf(pending)['generation'],
    ],
    ['Pending', 5, 1],
  );
  assert.equal(metaOf(merge(path, { spec: { priority: 6 } }).object)['generation'], 2);
  assert.equal(metaOf(merge(path, { metadata: { labels: { a: 'b' } } }).object)['generation'], 2);
  const stale = merge(`${path}/status`, {
    metadata: { resourceVersion: '1' },
    status: { phase: 'Acknowledged' },
  });
  assert.equal(stale.status, 409);
  const list = ask(
    'GET',
    `/apis/bigfleet.lucy.sh/v1alpha1/capacityrequests?fieldSelector=status.phase%3DPending`,
  );
  assert.equal(asList(list.object['items']).length, 1);
  assert.equal(ask('GET', `${REQUESTS_PATH}?fieldSelector=spec.priority%3D6`).status, 400);
});

test('a PUT of a custom resource needs a version, and a strategic merge patch is 415', () => {
  const { ask } = withDefinitions();
  ask('POST', REQUESTS_PATH, capacityRequest('a'));
  const put = ask('PUT', `${REQUESTS_PATH}/a`, capacityRequest('a', { priority: 7 }));
  assert.equal(put.status, 422);
  assert.match(
    String(put.object['message']),
    /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
  );
  assert.equal(
    ask('PATCH', `${REQUESTS_PATH}/a`, {}, 'application/strategic-merge-patch+json').status,
    415,
  );
});

test('server-side apply creates what is missing and merges into what is there', () => {
  const { ask } = withDefinitions();
  const apply = (spec: Obj): ReturnType<TestCluster['ask']> =>
    ask(
      'PATCH',
      `${REQUESTS_PATH}/a?fieldManager=t`,
      capacityRequest('a', spec),
      'application/apply-patch+yaml',
    );
  assert.equal(apply({}).status, 201);
  const second = apply({ priority: 9 });
  assert.deepEqual([second.status, at(second.object, 'spec', 'priority')], [200, 9]);
});

test('a field that the schema newly defaults is there for every later read, under the old version', async () => {
  const { ask, watch } = withDefinitions();
  const before = ask('POST', REQUESTS_PATH, capacityRequest('a')).object;
  const open = watch(`${REQUESTS_PATH}?watch=1`);
  await eventsOf(open);
  const definition = clone(ask('GET', DEFINITION).object);
  const version = asObj(asList(at(definition, 'spec', 'versions'))[0]);
  const properties = asObj(
    at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties'),
  );
  properties['tier'] = { type: 'string', default: 'standard' };
  const updated = ask('PUT', DEFINITION, definition);
  assert.equal(updated.status, 200);
  assert.equal(metaOf(updated.object)['generation'], 2);
  const after = ask('GET', `${REQUESTS_PATH}/a`).object;
  assert.equal(at(after, 'spec', 'tier'), 'standard');
  assert.equal(metaOf(after)['resourceVersion'], metaOf(before)['resourceVersion']);
  assert.deepEqual(await open.read(), { kind: 'end' });
});

test('a rule that the server cannot evaluate is refused with its definition', () => {
  const { ask } = withDefinitions();
  const definition = clone(ask('GET', DEFINITION).object);
  const version = asObj(asList(at(definition, 'spec', 'versions'))[0]);
  const priority = asObj(
    at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', 'priority'),
  );
  priority['x-kubernetes-validations'] = [{ rule: 'self > 3' }];
  const { status, object } = ask('PUT', DEFINITION, definition);
  assert.equal(status, 422);
  assert.match(
    String(object['message']),
    /properties\[priority\]\.x-kubernetes-validations\[0\]\.rule: Invalid value: "self > 3": this test API server evaluates only/,
  );
});

test('deleting a definition deletes its objects', async () => {
  const { ask, time } = withDefinitions();
  ask('POST', REQUESTS_PATH, capacityRequest('a'));
  ask('DELETE', DEFINITION);
  await time.runFor(100);
  assert.equal(ask('GET', DEFINITION).status, 404);
  assert.equal(ask('GET', REQUESTS_PATH).status, 404);
});

// Creates, updates and deletes answer as kube-apiserver does: codes, reasons, messages, and what is stored.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PODS_PATH, testCluster } from '../test-cluster.ts';
import { at, metaOf, textAt } from './json.ts';

test('a created Pod has its defaults, and its status is the server’s own', () => {
  const { ask } = testCluster();
  const { status, object } = ask('POST', PODS_PATH, { ...pod('a'), status: { phase: 'Running' } });
  assert.equal(status, 201);
  assert.equal(textAt(object, 'status', 'phase'), 'Pending');
  assert.equal(at(object, 'spec', 'terminationGracePeriodSeconds'), 30);
  assert.equal(at(object, 'spec', 'priority'), 0);
  assert.equal(textAt(object, 'metadata', 'creationTimestamp'), '2026-01-01T00:00:00Z');
  assert.match(textAt(object, 'metadata', 'uid'), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
});

test('refusals of a create carry the real reason and message', () => {
  const { ask } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  const rows: readonly [unknown, number, string, string][] = [
    [pod('a'), 409, 'AlreadyExists', 'pods "a" already exists'],
    [
      pod('A'),
      422,
      'Invalid',
      'Pod "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123',
    ],
    [
      { ...pod('b'), spec: {} },
      422,
      'Invalid',
      'Pod "b" is invalid: spec.containers: Required value',
    ],
    [
      pod('b', { spec: { priorityClassName: 'x' } }),
      403,
      'Forbidden',
      'pods "b" is forbidden: no PriorityClass with name x was found',
    ],
    [
      pod('b', { labels: { a: 'no spaces' } }),
      422,
      'Invalid',
      'Pod "b" is invalid: metadata.labels: Invalid value: "no spaces"',
    ],
    [{ ...pod('b'), kind: 'Node' }, 400, 'BadRequest', 'Node in version'],
    [
      pod('b', { metadata: { namespace: 'other' } }),
      400,
      'BadRequest',
      'the namespace of the provided object does not match',
    ],
  ];
  for (const [body, code, reason, message] of rows) {
    const { status, object } = ask('POST', PODS_PATH, body);
    assert.deepEqual(
      [status, object['code'], object['reason'], object['kind']],
      [code, code, reason, 'Status'],
    );
    assert.ok(String(object['message']).startsWith(message), String(object['message']));
  }
  const missing = ask('POST', '/api/v1/namespaces/nowhere/pods', pod('a'));
  assert.equal(missing.status, 404);
  assert.equal(missing.object['message'], 'namespaces "nowhere" not found');
});

test('generateName draws five characters, and is ignored beside a name', () => {
  const { ask } = testCluster();
  const body = pod('x');
  const drawn = ask('POST', PODS_PATH, { ...body, metadata: { generateName: 'job-' } });
  assert.match(textAt(drawn.object, 'metadata', 'name'), /^job-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const named = ask('POST', PODS_PATH, {
    ...body,
    metadata: { generateName: 'job-', name: 'mine' },
  });
  assert.equal(textAt(named.object, 'metadata', 'name'), 'mine');
  const long = ask('POST', PODS_PATH, {
    ...body,
    metadata: { generateName: `${'a'.repeat(254)}-` },
  });
  assert.equal(long.status, 422);
});

test('a PUT with a stale version conflicts, one without overwrites, and no change is no new version', () => {
  const { ask } = testCluster();
  const created = ask('POST', PODS_PATH, pod('a')).object;
  const path = `${PODS_PATH}/a`;
  const labelled = { ...created, metadata: { ...metaOf(created), labels: { a: 'b' } } };
  const updated = ask('PUT', path, labelled);
  assert.equal(updated.status, 200);
  const stale = ask('PUT', path, {
    ...created,
    metadata: { ...metaOf(created), labels: { a: 'c' } },
  });
  assert.deepEqual([stale.status, stale.object['reason']], [409, 'Conflict']);
  assert.equal(
    stale.object['message'],
    'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
  );
  const same = ask('PUT', path, updated.object);
  assert.equal(
    textAt(same.object, 'metadata', 'resourceVersion'),
    textAt(updated.object, 'metadata', 'resourceVersion'),
  );
  assert.equal(
    ask('PUT', path, { ...created, metadata: { ...metaOf(created), name: 'b' } }).status,
    400,
  );
});

test('a patch cannot change a Pod’s spec, its uid or its status', () => {
  const { ask, merge } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  const path = `${PODS_PATH}/a`;
  const moved = merge(path, { spec: { nodeName: 'n1' } });
  assert.equal(moved.status, 422);
  assert.match(
    String(moved.object['message']),
    /spec: Forbidden: pod updates may not change fields other than/,
  );
  assert.equal(merge(path, { metadata: { uid: 'x' } }).status, 422);
  assert.equal(
    textAt(merge(path, { status: { phase: 'Running' } }).object, 'status', 'phase'),
    'Pending',
  );
  assert.equal(
    textAt(merge(`${path}/status`, { status: { phase: 'Running' } }).object, 'status', 'phase'),
    'Running',
  );
  assert.equal(merge(path, { metadata: { resourceVersion: '1', labels: { a: 'b' } } }).status, 409);
});

test('a bound Pod ends when its kubelet says so, an unbound one at once', () => {
  const { ask } = testCluster();
  const path = `${PODS_PATH}/a`;
  ask('POST', PODS_PATH, pod('free'));
  assert.equal(ask('DELETE', `${PODS_PATH}/free`).status, 200);
  assert.equal(ask('GET', `${PODS_PATH}/free`).status, 404);
  ask('POST', PODS_PATH, pod('a'));
  assert.equal(
    ask('POST', `${path}/binding`, { target: { kind: 'Node', name: 'n1' } }).status,
    201,
  );
  const again = ask('POST', `${path}/binding`, { target: { kind: 'Node', name: 'n2' } });
  assert.equal(
    again.object['message'],
    'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"',
  );
  const ending = ask('DELETE', path).object;
  assert.equal(textAt(ending, 'metadata', 'deletionTimestamp'), '2026-01-01T00:00:30Z');
  assert.equal(at(ending, 'metadata', 'deletionGracePeriodSeconds'), 30);
  assert.equal(ask('DELETE', path).status, 200);
  assert.equal(ask('GET', path).status, 200);
  const other = ask('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid: 'other' } });
  assert.equal(other.status, 409);
  assert.match(
    String(other.object['message']),
    /the UID in the precondition \(other\) does not match/,
  );
  assert.equal(ask('DELETE', path, { gracePeriodSeconds: 0 }).status, 200);
  assert.equal(ask('GET', path).status, 404);
});

test('a finalizer holds an object until it is taken off, and no new one can be added', () => {
  const { ask, merge } = testCluster();
  const path = '/api/v1/namespaces/default/configmaps';
  ask('POST', path, { metadata: { name: 'c', finalizers: ['example.org/hold'] } });
  assert.equal(textAt(ask('DELETE', `${path}/c`).object, 'kind'), 'ConfigMap');
  assert.equal(
    merge(`${path}/c`, { metadata: { finalizers: ['example.org/hold', 'example.org/more'] } })
      .status,
    422,
  );
  assert.equal(merge(`${path}/c`, { metadata: { finalizers: null } }).status, 200);
  assert.equal(ask('GET', `${path}/c`).status, 404);
});

test('a dry run answers as the request would and stores nothing', () => {
  const { ask, server } = testCluster();
  const before = server.store.revision;
  assert.equal(ask('POST', `${PODS_PATH}?dryRun=All`, pod('a')).status, 201);
  assert.equal(ask('GET', `${PODS_PATH}/a`).status, 404);
  assert.equal(server.store.revision, before);
});

test('methods and media types that do not fit are 405 and 415, unknown paths 404', () => {
  const { ask } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  assert.equal(ask('POST', `${PODS_PATH}/a`, {}).status, 405);
  assert.equal(ask('PUT', PODS_PATH, {}).status, 405);
  assert.equal(ask('PATCH', `${PODS_PATH}/a`, {}, 'text/plain').status, 415);
  assert.equal(ask('GET', '/api/v1/foos').object['reason'], 'NotFound');
  assert.deepEqual(ask('GET', '/apis/nowhere.example.org/v1/foos'), {
    status: 404,
    object: { text: '404 page not found\n' },
  });
  assert.deepEqual(ask('GET', `${PODS_PATH}/zzz`).object['details'], { name: 'zzz', kind: 'pods' });
});

test('deleting a collection deletes what its selector names', () => {
  const { ask } = testCluster();
  ask('POST', PODS_PATH, pod('a', { labels: { app: 'x' } }));
  ask('POST', PODS_PATH, pod('b', { labels: { app: 'y' } }));
  assert.equal(ask('DELETE', `${PODS_PATH}?labelSelector=app%3Dx`).status, 200);
  assert.equal(ask('GET', `${PODS_PATH}/a`).status, 404);
  assert.equal(ask('GET', `${PODS_PATH}/b`).status, 200);
});

test('one seed gives one history: names, uids and times', () => {
  const history = (seed: string): string => {
    const { ask, server } = testCluster({ seed });
    for (let i = 0; i < 5; i++) {
      ask('POST', PODS_PATH, { ...pod('x'), metadata: { generateName: 'job-' } });
    }
    const answer = server.answer({ method: 'GET', path: '/api/v1/pods' });
    return answer.kind === 'answer' ? answer.text : '';
  };
  assert.equal(history('7'), history('7'));
  assert.notEqual(history('7'), history('8'));
});

test('scale reads and writes the number of replicas alone', () => {
  const { ask, merge } = testCluster();
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const selector = { matchLabels: { app: 'web' } };
  ask('POST', path, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 2, selector, template: {} },
  });
  const { object: scale } = ask('GET', `${path}/web/scale`);
  assert.equal(at(scale, 'spec', 'replicas'), 2);
  assert.equal(textAt(scale, 'status', 'selector'), 'app=web');
  assert.equal(merge(`${path}/web/scale`, { spec: { replicas: 5 } }).status, 200);
  const { object } = ask('GET', `${path}/web`);
  assert.deepEqual([at(object, 'spec', 'replicas'), at(object, 'metadata', 'generation')], [5, 2]);
  assert.deepEqual(at(object, 'spec', 'selector'), selector);
  // The version of the first read is of before the patch.
  assert.equal(ask('PUT', `${path}/web/scale`, scale).status, 409);
  assert.equal(merge(`${path}/web/scale`, { spec: { replicas: -1 } }).status, 400);
});

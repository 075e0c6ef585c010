// Lists and watches: pages of one revision, selectors, resume, bookmarks, and 410 after a compaction.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf, pod, PODS_PATH, testCluster } from '../test-cluster.ts';
import { asList, asText, at, metaOf, type Obj, textAt } from './json.ts';

function names(object: Obj): string[] {
  return asList(object['items']).map((one) => textAt(one, 'metadata', 'name'));
}

test('the pages of a list show one revision, whatever is written between them', () => {
  const { ask } = testCluster();
  for (const name of ['a', 'b', 'c', 'd', 'e']) ask('POST', PODS_PATH, pod(name));
  const first = ask('GET', '/api/v1/pods?limit=2').object;
  assert.deepEqual(names(first), ['a', 'b']);
  assert.equal(metaOf(first)['remainingItemCount'], 3);
  ask('DELETE', `${PODS_PATH}/c`);
  ask('POST', PODS_PATH, pod('cc'));
  const token = encodeURIComponent(asText(metaOf(first)['continue']));
  const second = ask('GET', `/api/v1/pods?limit=2&continue=${token}`).object;
  assert.deepEqual(names(second), ['c', 'd']);
  assert.equal(metaOf(second)['resourceVersion'], metaOf(first)['resourceVersion']);
  assert.equal(metaOf(second)['remainingItemCount'], 1);
  const last = ask(
    'GET',
    `/api/v1/pods?limit=2&continue=${encodeURIComponent(asText(metaOf(second)['continue']))}`,
  ).object;
  assert.deepEqual(names(last), ['e']);
  assert.equal(metaOf(last)['continue'], undefined);
});

test('a continue token from before a compaction is 410 and offers an inconsistent rest', () => {
  const { ask, server } = testCluster();
  for (const name of ['a', 'b', 'c']) ask('POST', PODS_PATH, pod(name));
  const token = encodeURIComponent(
    asText(metaOf(ask('GET', '/api/v1/pods?limit=1').object)['continue']),
  );
  ask('POST', PODS_PATH, pod('d'));
  server.compact();
  const gone = ask('GET', `/api/v1/pods?limit=1&continue=${token}`);
  assert.deepEqual([gone.status, gone.object['reason']], [410, 'Expired']);
  const rest = encodeURIComponent(asText(metaOf(gone.object)['continue']));
  assert.deepEqual(names(ask('GET', `/api/v1/pods?continue=${rest}`).object), ['b', 'c', 'd']);
});

test('label and field selectors choose, and an unknown field is 400', () => {
  const { ask, merge } = testCluster();
  ask('POST', PODS_PATH, pod('a', { labels: { app: 'x', tier: '1' } }));
  ask('POST', PODS_PATH, pod('b', { labels: { app: 'y' } }));
  ask('POST', PODS_PATH, pod('c'));
  ask('POST', `${PODS_PATH}/b/binding`, { target: { name: 'n1' } });
  merge(`${PODS_PATH}/c/status`, { status: { phase: 'Running' } });
  const rows: readonly [string, string[]][] = [
    ['labelSelector=app', ['a', 'b']],
    ['labelSelector=!app', ['c']],
    ['labelSelector=app=x', ['a']],
    ['labelSelector=app!=x', ['b', 'c']],
    ['labelSelector=app in (x, y),tier', ['a']],
    ['labelSelector=app notin (x)', ['b', 'c']],
    ['fieldSelector=spec.nodeName=n1', ['b']],
    ['fieldSelector=spec.nodeName!=n1', ['a', 'c']],
    ['fieldSelector=status.phase=Running', ['c']],
    ['fieldSelector=metadata.name=a,metadata.namespace=default', ['a']],
  ];
  for (const [query, expected] of rows) {
    assert.deepEqual(names(ask('GET', `/api/v1/pods?${encodeURI(query)}`).object), expected, query);
  }
  const unknown = ask('GET', '/api/v1/pods?fieldSelector=spec.color=red');
  assert.deepEqual(
    [unknown.status, unknown.object['message']],
    [400, 'field label not supported: spec.color'],
  );
  assert.equal(ask('GET', `/api/v1/pods?labelSelector=${encodeURIComponent('a b c')}`).status, 400);
});

test('a watch resumes where a list or another watch stood', async () => {
  const { ask, watch, merge } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  const version = textAt(ask('GET', '/api/v1/pods').object, 'metadata', 'resourceVersion');
  merge(`${PODS_PATH}/a`, { metadata: { labels: { x: 'y' } } });
  ask('POST', PODS_PATH, pod('b'));
  ask('DELETE', `${PODS_PATH}/a`);
  const open = watch(`/api/v1/pods?watch=1&resourceVersion=${version}`);
  const events = await eventsOf(open);
  assert.deepEqual(
    events.map(({ type, object }) => `${type} ${textAt(object, 'metadata', 'name')}`),
    ['MODIFIED a', 'ADDED b', 'DELETED a'],
  );
  const second = textAt(events[1]?.object, 'metadata', 'resourceVersion');
  const resumed = await eventsOf(watch(`/api/v1/pods?watch=1&resourceVersion=${second}`));
  assert.deepEqual(resumed, events.slice(2));
});

test('a change out of a watch’s selection is DELETED with what the watch last saw', async () => {
  const { ask, watch, merge } = testCluster();
  const open = watch('/api/v1/pods?watch=true&labelSelector=app%3Dx');
  ask('POST', PODS_PATH, pod('a'));
  merge(`${PODS_PATH}/a`, { metadata: { labels: { app: 'x' } } });
  const out = merge(`${PODS_PATH}/a`, { metadata: { labels: { app: 'y' } } }).object;
  merge(`${PODS_PATH}/a`, { metadata: { labels: { app: 'z' } } });
  const events = await eventsOf(open);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'DELETED'],
  );
  assert.equal(textAt(events[1]?.object, 'metadata', 'labels', 'app'), 'x');
  assert.equal(
    textAt(events[1]?.object, 'metadata', 'resourceVersion'),
    textAt(out, 'metadata', 'resourceVersion'),
  );
});

test('a watch from before a compaction gets one ERROR event with code 410 and ends', async () => {
  const { ask, watch, server } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  server.compact();
  const open = watch('/api/v1/pods?watch=1&resourceVersion=2');
  const [event] = await eventsOf(open);
  assert.deepEqual(
    [event?.type, at(event?.object, 'code'), at(event?.object, 'reason')],
    ['ERROR', 410, 'Expired'],
  );
  assert.deepEqual(await open.read(), { kind: 'end' });
  assert.equal(server.watchCount, 0);
});

test('bookmarks come about every minute and before the end, with the revision of the whole store', async () => {
  const { ask, watch, time, server } = testCluster();
  const open = watch('/api/v1/nodes?watch=1&allowWatchBookmarks=true&timeoutSeconds=150');
  ask('POST', PODS_PATH, pod('a'));
  await time.runFor(80_000);
  const [first] = await eventsOf(open);
  assert.equal(first?.type, 'BOOKMARK');
  assert.equal(textAt(first?.object, 'metadata', 'resourceVersion'), String(server.store.revision));
  await time.runFor(70_000);
  assert.ok((await eventsOf(open)).length >= 1);
  assert.deepEqual(await open.read(), { kind: 'end' });
});

test('a watch without a version begins with what is there; a streamed list ends in a marked bookmark', async () => {
  const { ask, watch } = testCluster();
  ask('POST', PODS_PATH, pod('a'));
  assert.deepEqual(
    (await eventsOf(watch('/api/v1/pods?watch=1'))).map(({ type }) => type),
    ['ADDED'],
  );
  const path =
    '/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const events = await eventsOf(watch(path));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'BOOKMARK'],
  );
  assert.equal(
    at(events[1]?.object, 'metadata', 'annotations', 'k8s.io/initial-events-end'),
    'true',
  );
});

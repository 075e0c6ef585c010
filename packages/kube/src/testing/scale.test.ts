// A hundred thousand Pods: pages do not copy the store, an event is serialised once for all its watches,
// and the log keeps its bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asList, asText, metaOf } from './api-server/json.ts';
import { pod, PODS_PATH, testCluster } from './test-cluster.ts';

const POD_COUNT = 100_000;

test('a hundred thousand Pods are created, listed in pages and watched', async () => {
  const { ask, merge, server, watch } = testCluster({ logLimit: 1000 });
  const type = server.types.find('', 'v1', 'pods');
  assert.ok(type !== undefined);
  for (let i = 0; i < POD_COUNT; i++) server.objects.create(type, 'default', pod(`p${i}`));
  let count = 0;
  let token = '';
  do {
    const query = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
    const page = ask('GET', `/api/v1/pods?limit=500${query}`).object;
    count += asList(page['items']).length;
    token = asText(metaOf(page)['continue']);
  } while (token !== '');
  assert.equal(count, POD_COUNT);
  const from = server.store.revision;
  const watches = Array.from({ length: 100 }, () =>
    watch(`/api/v1/pods?watch=1&resourceVersion=${from}`),
  );
  const stringify = JSON.stringify;
  let serialised = 0;
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    serialised++;
    return stringify(...args);
  }) as typeof stringify;
  try {
    for (let i = 0; i < 50; i++)
      merge(`${PODS_PATH}/p${i}`, { metadata: { labels: { n: String(i) } } });
  } finally {
    JSON.stringify = stringify;
  }
  // Per change: the request's body, its answer, and one text for a hundred watches.
  assert.ok(serialised <= 50 * 3, String(serialised));
  for (const open of watches) {
    const read = await open.read();
    assert.equal(read.kind === 'text' && read.text.split('\n').length, 51);
    open.end();
  }
  assert.equal([...server.store.since('/pods', server.store.compactedRevision)].length, 1000);
  assert.equal(server.watchCount, 0);
});

// The store gives back any state that its log still covers, and says what it has forgotten.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { Store } from './store.ts';

test('a list as of an older revision equals the list taken then', () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = createRandom(String(seed));
    const store = new Store({ logLimit: 1000, onChange: () => undefined });
    const seen = new Map<number, string>();
    const listed = (rows: Iterable<[string, { readonly revision: number }]>): string =>
      JSON.stringify([...rows].map(([key, { revision }]) => [key, revision]));
    for (let step = 0; step < 200; step++) {
      const key = `ns${random.below(2)}/p${random.below(30)}`;
      if (random.below(3) === 0 && store.get('/pods', key) !== undefined)
        store.remove('/pods', key);
      else store.put('/pods', key, { metadata: {} });
      seen.set(store.revision, listed(store.range('/pods', 'ns1/', 'ns1/p15')));
    }
    for (const [revision, then] of seen) {
      const again = listed(store.rangeAt('/pods', 'ns1/', { from: 'ns1/p15', revision }));
      assert.equal(again, then, `seed ${seed}, revision ${revision}`);
    }
  }
});

test('the log keeps its limit of changes and names the first that it can still give', () => {
  const store = new Store({ logLimit: 10, onChange: () => undefined });
  for (let i = 0; i < 95; i++) store.put('/pods', `a/p${i}`, { metadata: {} });
  assert.equal([...store.since('/pods', store.compactedRevision)].length, 10);
  const first = [...store.since('/pods', store.compactedRevision)][0];
  assert.equal(first?.revision, store.compactedRevision + 1);
  store.compact();
  assert.equal(store.compactedRevision, store.revision);
  assert.deepEqual([...store.since('/pods', store.revision)], []);
});

test('a burst of creates with removals in between leaves the right keys', () => {
  const store = new Store({ logLimit: 10, onChange: () => undefined });
  for (let i = 0; i < 100; i++) store.put('/pods', `a/p${i}`, { metadata: {} });
  for (let i = 0; i < 100; i += 2) store.remove('/pods', `a/p${i}`);
  const keys = [...store.range('/pods', '')].map(([key]) => key);
  const expected = Array.from({ length: 50 }, (_, i) => `a/p${2 * i + 1}`);
  assert.deepEqual(
    keys,
    expected.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test('keys are listed in the order of their bytes and counted from any of them', () => {
  const store = new Store({ logLimit: 10, onChange: () => undefined });
  for (const key of ['b/z', 'a/b', 'a-c/a', 'a/a']) store.put('/pods', key, { metadata: {} });
  assert.deepEqual(
    [...store.range('/pods', '')].map(([key]) => key),
    ['a-c/a', 'a/a', 'a/b', 'b/z'],
  );
  assert.deepEqual(
    [...store.range('/pods', 'a/')].map(([key]) => key),
    ['a/a', 'a/b'],
  );
  assert.equal(store.countFrom('/pods', 'a/', 'a/b'), 1);
  assert.equal(store.countFrom('/pods', '', ''), 4);
});

// Proves that the mirror is filled once however many readers start together, that every change
// afterwards is told exactly once, and that it starts afresh when it was dropped or a pull failed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NeedChanges } from '../../engine-host/need-journal.ts';
import { NeedMirror } from './need-mirror.ts';

const ref = (fingerprint: string) => ({ cluster: 'blue', fingerprint, group: '' });

function page(changed: readonly string[], more: Partial<NeedChanges> = {}): NeedChanges {
  const rows = changed.map((name) => ({ ref: ref(name), bytes: Uint8Array.of(1) }));
  return { cycle: 1, changed: rows, removed: [], hasMore: false, ...more };
}

function hostOf(pages: (NeedChanges | Error)[], asked: boolean[]) {
  return {
    needChanges: (isFresh: boolean): Promise<NeedChanges> => {
      asked.push(isFresh);
      const next = pages.shift() ?? page([]);
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
}

const names = (mirror: NeedMirror): string[] =>
  [...mirror.rows()].map(({ ref: { fingerprint } }) => fingerprint);

test('readers that start together fill it once, and take no change from the others', async () => {
  const asked: boolean[] = [];
  const pages = [page(['a'], { hasMore: true }), page(['b']), page(['c'], { removed: [ref('a')] })];
  const mirror = new NeedMirror(hostOf(pages, asked));
  await Promise.all([mirror.start(), mirror.start()]);
  assert.deepEqual(asked, [true, false]);
  assert.deepEqual(names(mirror), ['a', 'b']);
  const changes = await mirror.update();
  assert.deepEqual(
    changes.map(({ ref: { fingerprint }, bytes }) => [fingerprint, bytes === undefined]),
    [
      ['c', false],
      ['a', true],
    ],
  );
  assert.deepEqual(names(mirror), ['b', 'c']);
});

test('dropped, it starts afresh; a failed pull is heard and does not count', async () => {
  const asked: boolean[] = [];
  const lost = new Error('the engine is lost');
  const mirror = new NeedMirror(hostOf([lost, page(['a']), page(['b'])], asked));
  await assert.rejects(mirror.start(), lost);
  assert.equal(mirror.isLive, false);
  await mirror.start();
  assert.deepEqual(names(mirror), ['a']);
  mirror.drop();
  assert.deepEqual(names(mirror), []);
  await mirror.start();
  assert.deepEqual(names(mirror), ['b']);
  assert.deepEqual(asked, [true, true, true]);
});

test('dropped in the middle of a pull, it starts afresh and not with what came after', async () => {
  const asked: boolean[] = [];
  const pages = [page(['a'], { hasMore: true }), page(['b']), page(['a', 'b'])];
  const host = hostOf(pages, asked);
  const mirror = new NeedMirror({
    needChanges: (isFresh) => {
      if (asked.length === 1) mirror.drop();
      return host.needChanges(isFresh);
    },
  });
  await mirror.start();
  assert.equal(mirror.isLive, false);
  await mirror.start();
  assert.deepEqual(names(mirror), ['a', 'b']);
  assert.deepEqual(asked, [true, false, true]);
});

// Proves when removals are held: the exact thresholds, what agreement means, what resets it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShrinkGuard } from './shrink-guard.ts';

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `m${from + i}`);

test('held above one half of at least ten', () => {
  const rows: readonly [number, number, 'remove' | 'hold'][] = [
    [9, 9, 'remove'],
    [10, 5, 'remove'],
    [10, 6, 'hold'],
    [1_000, 500, 'remove'],
    [1_000, 501, 'hold'],
    [0, 0, 'remove'],
  ];
  for (const [known, omitted, kind] of rows) {
    assert.equal(new ShrinkGuard().judge(known, ids(0, omitted)).kind, kind, `${omitted}/${known}`);
  }
});

test('only what three Lists in a row omit is removed', () => {
  const guard = new ShrinkGuard();
  assert.deepEqual(guard.judge(10, ids(0, 8)), { kind: 'hold', heldCount: 8, agreeing: 1 });
  assert.deepEqual(guard.judge(10, ids(1, 9)), { kind: 'hold', heldCount: 7, agreeing: 2 });
  assert.equal(guard.heldCount, 7);
  assert.deepEqual(guard.judge(10, ids(2, 10)), { kind: 'remove', ids: ids(2, 8) });
  assert.equal(guard.heldCount, 0);
});

test('a List that is no longer short starts the count again', () => {
  const guard = new ShrinkGuard();
  guard.judge(10, ids(0, 8));
  guard.judge(10, ids(0, 8));
  assert.deepEqual(guard.judge(10, ids(0, 1)), { kind: 'remove', ids: ids(0, 1) });
  assert.equal(guard.heldCount, 0);
  assert.deepEqual(guard.judge(10, ids(0, 8)), { kind: 'hold', heldCount: 8, agreeing: 1 });
});

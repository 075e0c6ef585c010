// The patches do what their RFCs and kubectl expect, and leave their inputs alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonPatch, mergePatch, strategicPatch } from './patch.ts';

test('a merge patch follows the table of RFC 7386', () => {
  const rows: readonly (readonly [unknown, unknown, unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of rows) {
    const before = JSON.stringify(target);
    assert.deepEqual(mergePatch(target, patch), result);
    assert.equal(JSON.stringify(target), before);
  }
});

test('a JSON patch adds, removes, replaces, moves, copies and tests', () => {
  const target = { a: { b: [1, 2] }, 'x/y': 1 };
  const patched = jsonPatch(target, [
    { op: 'add', path: '/a/b/1', value: 9 },
    { op: 'add', path: '/a/b/-', value: 3 },
    { op: 'replace', path: '/x~1y', value: 2 },
    { op: 'copy', from: '/a/b', path: '/c' },
    { op: 'move', from: '/a/b/0', path: '/d' },
    { op: 'test', path: '/d', value: 1 },
    { op: 'remove', path: '/c/0' },
  ]);
  assert.deepEqual(patched, { a: { b: [9, 2, 3] }, 'x/y': 2, c: [9, 2, 3], d: 1 });
  assert.deepEqual(target, { a: { b: [1, 2] }, 'x/y': 1 });
  assert.throws(() => jsonPatch({}, [{ op: 'remove', path: '/a' }]), /rejected our request/);
  assert.throws(
    () => jsonPatch({ a: 1 }, [{ op: 'test', path: '/a', value: 2 }]),
    /rejected our request/,
  );
});

test('a strategic merge patch merges containers by name and replaces plain lists', () => {
  const target = { spec: { containers: [{ name: 'a', image: '1', args: ['x'] }, { name: 'b' }] } };
  const patch = {
    spec: {
      containers: [
        { name: 'a', image: '2', args: ['y'] },
        { name: 'b', $patch: 'delete' },
        { name: 'c' },
      ],
    },
  };
  assert.deepEqual(strategicPatch(target, patch), {
    spec: { containers: [{ name: 'a', image: '2', args: ['y'] }, { name: 'c' }] },
  });
});

// Proves that a failed assertion carries its fields, and that bugs stay distinct from results.

import nodeAssert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError, assert, unreachable } from './assert.ts';
import { err, ok, type Result } from './result.ts';

test('assert passes truth and throws falsehood with its fields', () => {
  assert(true, 'fine');
  nodeAssert.throws(
    () => assert(false, 'size must match', { size: 3 }),
    (thrown) =>
      thrown instanceof AssertionError &&
      thrown.message === 'size must match' &&
      thrown.name === 'AssertionError' &&
      thrown.fields['size'] === 3,
  );
});

test('unreachable names the value that should not exist', () => {
  nodeAssert.throws(
    () => unreachable('surprise' as never),
    (thrown) => thrown instanceof AssertionError && thrown.fields['value'] === 'surprise',
  );
});

test('a result narrows by its tag', () => {
  const half = (n: number): Result<number, 'odd'> => (n % 2 === 0 ? ok(n / 2) : err('odd'));
  nodeAssert.deepEqual(half(4), { ok: true, value: 2 });
  nodeAssert.deepEqual(half(3), { ok: false, error: 'odd' });
});

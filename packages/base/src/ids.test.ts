// Proves that ids follow the identity grammar byte for byte: what a certificate cannot carry is
// refused, without folding, trimming or decoding anything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_ID_LENGTH, parseClusterId, parseShardId } from './ids.ts';

test('cluster and shard ids: accepted as they are', () => {
  const accepted = ['a', 'Z', '0', '-', '_', '.', '..', 'prod-eu_1.example', 'A'.repeat(253)];
  for (const text of accepted) {
    assert.deepEqual(parseClusterId(text), { ok: true, value: text });
    assert.deepEqual(parseShardId(text), { ok: true, value: text });
  }
});

test('cluster and shard ids: refused with a reason', () => {
  const refused = [
    '',
    'a/b',
    'a%2Fb',
    'a/',
    ' a',
    'a ',
    'a\n',
    'a\0',
    'ä',
    'а',
    '１',
    'a:b',
    'a@b',
  ];
  refused.push('a+b', 'a,b', '[', '`', '{', '/', ':', '@', 'A'.repeat(MAX_ID_LENGTH + 1), '😀');
  for (const text of refused) {
    for (const result of [parseClusterId(text), parseShardId(text)]) {
      assert.ok(!result.ok, JSON.stringify(text));
      assert.equal(result.error.code, 'id_malformed');
      assert.ok(result.error.problem.length > 0);
    }
  }
});

test('the problem points at the character', () => {
  const result = parseClusterId('ab/c');
  assert.equal(result.ok ? '' : result.error.problem, 'character 3 of the id is not allowed');
});

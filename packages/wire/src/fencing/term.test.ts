// Proves that a term mark rejects deposed leaders, accepts the current one and only rises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TermMark } from './term.ts';

test('lower is stale, equal is current, higher advances; a rejection moves nothing', () => {
  const mark = new TermMark(5n);
  assert.equal(mark.observe(4n), 'stale');
  assert.equal(mark.term, 5n);
  assert.equal(mark.observe(5n), 'current');
  assert.equal(mark.observe(2n ** 62n), 'advanced');
  assert.equal(mark.term, 2n ** 62n);
  assert.equal(mark.observe(2n ** 62n - 1n), 'stale');
});

test('a mark made from the persisted term rejects what its predecessor rejected', () => {
  const before = new TermMark(0n);
  before.observe(9n);
  assert.equal(new TermMark(before.term).observe(8n), 'stale');
});

// Proves that a duration that goes back is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationSeconds } from './checks.ts';

test('a duration below zero is a bug', () => {
  assert.equal(durationSeconds(5, 5), 0);
  assert.equal(durationSeconds(100, 350), 0.25);
  assert.throws(() => durationSeconds(5, 4.999), { name: 'AssertionError' });
});

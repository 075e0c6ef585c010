// Proves the tier floors of decision 23 at their edges.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRIORITY_CLASS_LABELS, priorityClassOf } from './priority-class.ts';

test('classes by floor', () => {
  for (const [priority, expected] of [
    [2_147_483_647, 'critical'],
    [1_000_000, 'critical'],
    [999_999, 'service'],
    [1_000, 'service'],
    [999, 'batch'],
    [0, 'batch'],
    [-1, 'batch'],
    [-2_147_483_648, 'batch'],
  ] as const) {
    assert.equal(priorityClassOf(priority), expected, String(priority));
  }
  assert.deepEqual(PRIORITY_CLASS_LABELS, ['critical', 'service', 'batch', 'other']);
});

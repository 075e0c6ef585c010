// Proves that every step between two states has a way inside the picture, so that no provider's surprise
// draws outside of it or divides by zero.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_NAMES } from '../../../src/words.ts';
import {
  edgeWidth,
  FLOW_HEIGHT,
  FLOW_WIDTH,
  isStub,
  ORDINARY,
  stubOf,
  wayOf,
} from './flow-layout.ts';

test('every pair of states has a way, and its figures are in sight', () => {
  for (const from of STATE_NAMES) {
    for (const to of STATE_NAMES) {
      if (from === to) continue;
      const { path, label } = isStub(from, to) ? stubOf(from) : wayOf(from, to);
      assert.match(path, /^M[-\d. ]+[CHLV][-\d. ]+$/, `${from} to ${to}`);
      assert.doesNotMatch(path, /NaN/);
      assert.ok(label.x > 0 && label.x < FLOW_WIDTH, `${from} to ${to} at ${label.x}`);
      assert.ok(label.y > 0 && label.y < FLOW_HEIGHT, `${from} to ${to} at ${label.y}`);
    }
  }
});

test('only a step into Failed is a stub, and no ordinary step is one', () => {
  assert.ok(isStub('Configuring', 'Failed'));
  assert.ok(!isStub('Failed', 'Deleting'));
  assert.ok(ORDINARY.every(([from, to]) => !isStub(from, to)));
});

test('a step that more machines took is wider, and none is invisible', () => {
  assert.ok(edgeWidth(0, 10) > 0);
  assert.ok(edgeWidth(1, 1_000_000) > edgeWidth(0, 1_000_000));
  assert.ok(edgeWidth(10, 10) > edgeWidth(5, 10));
});

// Proves that every step between two states has a way inside the picture, so that no provider's surprise
// draws outside of it or divides by zero.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_NAMES } from '../../../src/words.ts';
import {
  edgeKind,
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
  assert.ok(edgeWidth('unused', 0, 10) > 0);
  assert.ok(edgeWidth('taken', 1, 1_000_000) > edgeWidth('unused', 0, 1_000_000));
  assert.ok(edgeWidth('taken', 10, 10) > edgeWidth('taken', 5, 10));
});

test('steps that were seen as one are told apart from steps that machines take, and are thinner', () => {
  assert.equal(edgeKind('Idle', 'Configured', 65), 'merged');
  assert.equal(edgeKind('Speculative', 'Idle', 43), 'merged');
  assert.equal(edgeKind('Idle', 'Configuring', 65), 'taken');
  assert.equal(edgeKind('Failed', 'Speculative', 40), 'taken');
  assert.equal(edgeKind('Idle', 'Failed', 1), 'failure');
  assert.equal(edgeKind('Idle', 'Deleting', 0), 'unused');
  assert.ok(edgeWidth('merged', 10, 10) < edgeWidth('taken', 1, 10));
});

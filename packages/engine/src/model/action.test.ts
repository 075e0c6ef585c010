// Proves the grace table at its edges, the start state of every action kind, and the names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ActionKind,
  type ActionKindCode,
  actionKindName,
  drainGraceSeconds,
  RECLAIM_GRACE_SECONDS,
  startStateOf,
} from './action.ts';
import { isStable, State } from './state.ts';

test('fixed cases of a preemptor at 1 000 000', () => {
  for (const [victim, graceSeconds] of [
    [0, 10],
    [99_999, 10],
    [100_001, 30],
    [499_999, 30],
    [500_001, 120],
    [899_999, 120],
    [900_001, 600],
    [999_999, 600],
    [1_000_000, 600],
  ] as const) {
    assert.equal(drainGraceSeconds(1_000_000 - victim), graceSeconds, `victim ${victim}`);
  }
});

test('comparisons are strict, and the extremes of int32 stay in the table', () => {
  for (const [gap, graceSeconds] of [
    [900_001, 10],
    [900_000, 30],
    [500_001, 30],
    [500_000, 120],
    [100_001, 120],
    [100_000, 600],
    [0, 600],
    [-1, 600],
    [2 ** 31 - 1 - -(2 ** 31), 10],
  ] as const) {
    assert.equal(drainGraceSeconds(gap), graceSeconds, `gap ${gap}`);
  }
  assert.equal(RECLAIM_GRACE_SECONDS, 600);
});

test('every kind starts in its stable state', () => {
  for (const [name, state] of [
    ['Bootstrap', State.Idle],
    ['Provision', State.Speculative],
    ['Reclaim', State.Configured],
    ['Preempt', State.Configured],
    ['Delete', State.Idle],
  ] as const) {
    const kind: ActionKindCode = ActionKind[name];
    assert.equal(startStateOf(kind), state, name);
    assert.ok(isStable(startStateOf(kind)), name);
    assert.equal(actionKindName(kind), name);
  }
  assert.equal(actionKindName(6), 'ActionKind(6)');
});

// Proves for how long an operator is expected back, for whom at all, and that the memory is bounded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterId } from '@bigfleet/base';
import type { OperatorSession } from '../session/session.ts';
import { LostSessions } from './lost-sessions.ts';

function sessionOf(
  cluster: string,
  reportsCompletion = true,
): Pick<OperatorSession, 'cluster' | 'has'> {
  return { cluster: cluster as ClusterId, has: () => reportsCompletion };
}

test('an operator is expected back for 60 s, counted from its last loss', () => {
  const lost = new LostSessions();
  assert.equal(lost.backByMs('blue', 0), undefined);
  lost.add(sessionOf('blue'), 1_000);
  assert.equal(lost.backByMs('blue', 60_999), 61_000);
  assert.equal(lost.backByMs('blue', 61_000), undefined);
  lost.add(sessionOf('blue'), 30_000);
  assert.equal(lost.backByMs('blue', 61_000), 90_000);
  assert.equal(lost.backByMs('green', 61_000), undefined);
});

test('an operator that was forgotten, or that reports no completion, is not expected back', () => {
  const lost = new LostSessions();
  lost.add(sessionOf('blue'), 0);
  lost.forget('blue');
  assert.equal(lost.backByMs('blue', 1), undefined);
  lost.add(sessionOf('blue'), 0);
  lost.add(sessionOf('blue', false), 1);
  assert.equal(lost.backByMs('blue', 1), undefined);
});

test('beyond 10,000 losses in a minute the oldest is forgotten, and only it', () => {
  const lost = new LostSessions();
  for (let at = 0; at <= 10_000; at++) lost.add(sessionOf(`c${at}`), at);
  assert.equal(lost.backByMs('c0', 10_000), undefined);
  assert.equal(lost.backByMs('c1', 10_000), 60_001);
  assert.equal(lost.backByMs('c10000', 10_000), 70_000);
});

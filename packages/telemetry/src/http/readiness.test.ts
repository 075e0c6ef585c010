// Proves latched and unlatched readiness, and that shutdown wins for good.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allReady, createReadiness } from './readiness.ts';

const first = 'first provider reconcile not yet complete';

test('latched: ready once, ready until shutdown', () => {
  const readiness = createReadiness({ reason: first, latched: true });
  assert.deepEqual(readiness.state(), { ready: false, reason: first });
  readiness.markNotReady('still loading');
  assert.deepEqual(readiness.state(), { ready: false, reason: 'still loading' });
  readiness.markReady();
  readiness.markNotReady('provider gone');
  assert.deepEqual(readiness.state(), { ready: true });
  readiness.shutDown();
  assert.deepEqual(readiness.state(), { ready: false, reason: 'shutting down' });
  readiness.markReady();
  readiness.markNotReady('other');
  assert.deepEqual(readiness.state(), { ready: false, reason: 'shutting down' });
});

test('unlatched: follows the facts', () => {
  const readiness = createReadiness({ reason: 'no raft leader observed', latched: false });
  readiness.markReady();
  assert.deepEqual(readiness.state(), { ready: true });
  readiness.markNotReady('no raft leader observed');
  assert.deepEqual(readiness.state(), { ready: false, reason: 'no raft leader observed' });
});

test('several in one process: the first reason, until all are ready', () => {
  const one = createReadiness({ reason: 'one', latched: true });
  const two = createReadiness({ reason: 'two', latched: true });
  const both = allReady([one, two]);
  assert.deepEqual(both.state(), { ready: false, reason: 'one' });
  one.markReady();
  assert.deepEqual(both.state(), { ready: false, reason: 'two' });
  two.markReady();
  assert.deepEqual(both.state(), { ready: true });
});

// Proves that a decision which came as an event and in an answer is listed once, and that its record is
// found from its id.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../../src/api/common.ts';
import { type DecisionFilter, isMatch, mergeDecisions, recordOfDecision } from './decisions.ts';

function decision(id: string, atMs: number, more: Partial<Decision> = {}): Decision {
  return {
    id,
    shard: 's',
    epoch: '1',
    cycle: 1,
    atMs,
    kind: 'Bootstrap',
    reason: 'r',
    reasonText: '',
    machine: 'm',
    cluster: 'c',
    provider: '',
    instanceType: '',
    zone: '',
    capacityType: 'Spot',
    dollarsPerHour: 1,
    need: null,
    domain: '',
    heldBack: '',
    ...more,
  };
}

const ANY: DecisionFilter = {
  from: 0,
  to: 0,
  shard: '',
  cluster: '',
  machine: '',
  kind: '',
  reason: '',
};

test('live and answered decisions are one list, newest first, each once', () => {
  const merged = mergeDecisions(
    [decision('d', 4), decision('c', 3)],
    [decision('c', 3), decision('b', 2), decision('a', 1)],
    3,
  );
  assert.deepEqual(
    merged.map((item) => item.id),
    ['d', 'c', 'b'],
  );
});

test('within one millisecond, what only the answer has is older', () => {
  const merged = mergeDecisions(
    [decision('d', 5), decision('c', 5), decision('b', 5)],
    [decision('d', 5), decision('c', 5), decision('a', 5)],
    4,
  );
  assert.deepEqual(
    merged.map((item) => item.id),
    ['d', 'c', 'b', 'a'],
  );
});

test('each filter leaves out what it does not mean', () => {
  const it = decision('a', 50);
  assert.equal(isMatch(it, ANY), true);
  const others: readonly Partial<DecisionFilter>[] = [
    { from: 51 },
    { to: 49 },
    { shard: 'x' },
    { cluster: 'x' },
    { machine: 'x' },
    { kind: 'Preempt' },
    { reason: 'x' },
  ];
  for (const other of others) assert.equal(isMatch(it, { ...ANY, ...other }), false);
  assert.equal(isMatch(it, { ...ANY, from: 50, to: 50, cluster: 'c', kind: 'Bootstrap' }), true);
});

test('the record of a decision is read from the end of its id', () => {
  assert.deepEqual(recordOfDecision('eu/shard-1/-3/42/0'), {
    shard: 'eu/shard-1',
    epoch: '-3',
    cycle: 42,
  });
  for (const wrong of ['', 'shard', 'a/b/c/d', '/1/2/3', 'shard/1/2']) {
    assert.equal(recordOfDecision(wrong), null, wrong);
  }
});

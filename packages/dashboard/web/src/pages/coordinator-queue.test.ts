// Proves when a shard's instructions count as stuck: by age, by its silence, and never because nothing was told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgedAtMs, QUEUE_ORDER, type QueueState, queueState } from './coordinator-queue.ts';

const NOW_MS = 1_767_225_600_000;
const MINUTE_MS = 60_000;
const heard = { shard: 's', pending: 0, pendingSinceMs: null, reportMs: NOW_MS - 2_000 };
const since = (minutes: number): number => NOW_MS - minutes * MINUTE_MS;

const CASES: readonly (readonly [string, Parameters<typeof queueState>[0], QueueState])[] = [
  ['nothing waits', heard, 'clear'],
  ['some wait', { ...heard, pending: 2, pendingSinceMs: since(1) }, 'waiting'],
  ['some wait too long', { ...heard, pending: 2, pendingSinceMs: since(15) }, 'stuck'],
  [
    'some wait for a shard that is silent',
    { ...heard, pending: 1, pendingSinceMs: since(0), reportMs: since(2) },
    'stuck',
  ],
  ['a silent shard with nothing to do', { ...heard, reportMs: since(2) }, 'silent'],
  ['no report in this leadership', { ...heard, reportMs: null }, 'silent'],
  ['a coordinator that tells no queue', { ...heard, pending: null }, 'unknown'],
];

for (const [name, row, state] of CASES) {
  test(`${name}: ${state}`, () => assert.equal(queueState(row, NOW_MS), state));
}

test('every state has its place in the order', () => {
  const states = new Set(CASES.map(([, , state]) => state));
  assert.deepEqual([...states].sort(), [...QUEUE_ORDER].sort());
});

test('a coordinator that is away, or a lost stream, makes no shard silent', () => {
  const source = (state: 'live' | 'stale') => ({
    kind: 'coordinator' as const,
    name: 'c',
    state,
    sinceMs: NOW_MS,
    dataMs: NOW_MS,
    problem: '',
    flag: '--coordinator',
  });
  const frame = (state: 'live' | 'stale') => ({
    atMs: NOW_MS,
    isPast: false,
    isSimulated: false,
    oldestMs: 0,
    sources: [source(state)],
  });
  const laterMs = NOW_MS + 10 * MINUTE_MS;
  assert.equal(queueState(heard, judgedAtMs(frame('stale'), true, laterMs)), 'clear');
  assert.equal(queueState(heard, judgedAtMs(frame('live'), false, laterMs)), 'clear');
  assert.equal(queueState(heard, judgedAtMs(frame('live'), true, laterMs)), 'silent');
});

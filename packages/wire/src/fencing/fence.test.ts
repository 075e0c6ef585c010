// Proves that fence marks only rise, per (shard, machine), up to the ends of int64, and that a term
// mark rejects deposed leaders, accepts the current one and only rises.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkFence,
  type FenceMark,
  type FencingToken,
  isNewerThan,
  negativeToken,
  TermMark,
  TokenSource,
} from './fence.ts';

const max = 2n ** 63n - 1n;
const token = (shardEpoch: bigint, sequenceNumber: bigint, shardId = 's'): FencingToken => ({
  shardId,
  shardEpoch,
  sequenceNumber,
});

test('strictly newer only, epoch before sequence', () => {
  const rows: [bigint, bigint, bigint, bigint, boolean][] = [
    [1n, 1n, 1n, 1n, false],
    [1n, 2n, 1n, 1n, true],
    [1n, 1n, 1n, 2n, false],
    [2n, 0n, 1n, max, true],
    [1n, max, 2n, 0n, false],
    [max, max, max, max - 1n, true],
    [max, max - 1n, max, max, false],
    [0n, 0n, -1n, 5n, true],
  ];
  for (const [epoch, sequence, markEpoch, markSequence, newer] of rows) {
    const mark: FenceMark = { shardEpoch: markEpoch, sequenceNumber: markSequence };
    assert.equal(isNewerThan(token(epoch, sequence), mark), newer, `${epoch},${sequence}`);
  }
});

test('numbers beyond 2^53 that a double would merge stay apart', () => {
  const mark: FenceMark = { shardEpoch: 1n, sequenceNumber: 2n ** 53n };
  assert.equal(checkFence(token(1n, 2n ** 53n + 1n), mark).kind, 'passed');
  assert.equal(checkFence(token(1n, 2n ** 53n), mark).kind, 'stale');
});

test('first contact passes whatever its value; only an entirely empty token is absent', () => {
  assert.equal(checkFence(token(0n, 0n), undefined).kind, 'passed');
  assert.equal(checkFence(token(0n, 0n, ''), undefined).kind, 'absent');
  assert.equal(checkFence(token(0n, 1n, ''), undefined).kind, 'passed');
  assert.equal(
    checkFence(token(0n, 0n, ''), { shardEpoch: 9n, sequenceNumber: 9n }).kind,
    'absent',
  );
});

test('law: over any sequence of tokens the mark never falls and moves exactly on a pass', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max });
  fc.assert(
    fc.property(fc.array(fc.tuple(int64, int64), { maxLength: 30 }), (attempts) => {
      let mark: FenceMark | undefined;
      for (const [epoch, sequence] of attempts) {
        const verdict = checkFence(token(epoch, sequence), mark);
        if (verdict.kind === 'passed') {
          assert.ok(mark === undefined || isNewerThan(verdict.mark, mark));
          assert.deepEqual(verdict.mark, { shardEpoch: epoch, sequenceNumber: sequence });
          mark = verdict.mark;
        } else {
          assert.ok(mark !== undefined && !isNewerThan(token(epoch, sequence), mark));
        }
      }
    }),
  );
});

test('a token source starts at 1 and never repeats', () => {
  const source = new TokenSource('shard-0', 7n);
  assert.deepEqual(
    [source.next(), source.next()],
    [token(7n, 1n, 'shard-0'), token(7n, 2n, 'shard-0')],
  );
});

test('a negative number of a named shard is named; zero, and no shard at all, are fine', () => {
  assert.equal(negativeToken(token(-1n, 1n)), 'fencing token (-1, 1) is negative');
  assert.equal(negativeToken(token(1n, -1n)), 'fencing token (1, -1) is negative');
  assert.equal(negativeToken(token(0n, 0n)), undefined);
  assert.equal(negativeToken(token(-1n, -1n, '')), undefined);
});

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

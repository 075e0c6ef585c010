// Proves that the judgements of single answers and of bursts accept and refuse what they say, with
// findings that name what was expected and what came.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { FailureCode } from '@bigfleet/wire';
import { CheckFailed, SkipCheck, defineCheck, guideHeadings } from './check.ts';
import type { Ack, Answer } from './endpoint.ts';
import { accepted, acknowledged, fenced, notFenced, refusedWith, rejected } from './expect.ts';
import { fanout, mapLimited, singleOpId } from './fanout.ts';
import { uniqueShardId } from './fencing.ts';
import { alone } from './testing/alone.ts';

const GUIDE = '../../../../docs/provider-author-guide.md';

const ok = (operationId: string): Answer<Ack> => ({
  ok: true,
  value: { operationId, machine: undefined },
});
const error = (code: FailureCode): Answer<Ack> => ({ ok: false, code, message: 'no' });

test('one answer', () => {
  const cases: readonly (readonly [string, () => void, RegExp | undefined])[] = [
    ['accepted ok', () => void accepted(ok('a'), 'Create'), undefined],
    [
      'accepted error',
      () => void accepted(error('INTERNAL'), 'Create'),
      /expected OK, got INTERNAL/,
    ],
    ['empty id', () => void acknowledged(ok(''), 'Create'), /expected an operation_id/],
    ['fenced', () => fenced(error('FAILED_PRECONDITION'), 'Create'), undefined],
    ['fenced ok', () => fenced(ok('a'), 'Create'), /expected FAILED_PRECONDITION .* got OK/],
    ['fenced other', () => fenced(error('ABORTED'), 'Create'), /got ABORTED/],
    ['rejected', () => rejected(error('INTERNAL'), 'Drain'), undefined],
    ['rejected ok', () => rejected(ok('a'), 'Drain'), /expected a rejection, got OK/],
    ['rejected fenced', () => rejected(error('FAILED_PRECONDITION'), 'Drain'), /reserved/],
    ['not fenced ok', () => notFenced(ok('a'), 'Drain'), undefined],
    ['not fenced', () => notFenced(error('FAILED_PRECONDITION'), 'Drain'), /reserved/],
    ['code', () => refusedWith(error('NOT_FOUND'), ['NOT_FOUND'], 'Get'), undefined],
    [
      'wrong code',
      () => refusedWith(error('INTERNAL'), ['NOT_FOUND'], 'Get'),
      /NOT_FOUND, got INT/,
    ],
    ['code of ok', () => refusedWith(ok('a'), ['NOT_FOUND'], 'Get'), /NOT_FOUND, got OK/],
  ];
  for (const [name, judge, finding] of cases) {
    if (finding === undefined) assert.doesNotThrow(judge, name);
    else
      assert.throws(
        judge,
        (thrown) => thrown instanceof CheckFailed && finding.test(thrown.message),
        name,
      );
  }
});

test('singleOpId wants a success, one id, a non-empty id, and no fence', () => {
  assert.equal(singleOpId([error('ABORTED'), ok('op'), ok('op')], 'burst'), 'op');
  assert.throws(() => singleOpId([error('ABORTED')], 'burst'), /none of 1 calls succeeded/);
  assert.throws(() => singleOpId([ok('a'), ok('b')], 'burst'), /one operation_id, got 2/);
  assert.throws(() => singleOpId([ok(''), ok('')], 'burst'), /one operation_id, got 1: \[""\]/);
  assert.throws(() => singleOpId([ok('a'), error('FAILED_PRECONDITION')], 'burst'), /reserved/);
});

test('every heading that a finding can cite is one of the author guide, and of its contract', () => {
  const guide = readFileSync(path.join(import.meta.dirname, GUIDE), 'utf8');
  const contract = guide.split(/^## /m).find((part) => part.startsWith('The contract\n')) ?? '';
  const headings = [...contract.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  assert.deepEqual(headings, [...guideHeadings]);
});

test('a finding carries the rule; a skip and a bug pass through', async () => {
  const { context } = alone({});
  const thrown = async (error: Error): Promise<unknown> =>
    defineCheck('B101', 'The fence', async () => {
      throw error;
    })
      .run(context)
      .catch((caught: unknown) => caught);
  const finding = await thrown(new CheckFailed('m-1: wrong'));
  assert.ok(finding instanceof CheckFailed);
  assert.equal(finding.message, 'm-1: wrong (author guide, The fence)');
  for (const other of [new SkipCheck('capability-absent', 'none'), new TypeError('bug')]) {
    assert.equal(await thrown(other), other);
  }
});

test('fanout keeps order, mapLimited keeps order and its limit', async () => {
  assert.deepEqual(await fanout(3, async (index) => index * 2), [0, 2, 4]);
  let running = 0;
  let most = 0;
  const results = await mapLimited([5, 4, 3, 2, 1], 2, async (item) => {
    most = Math.max(most, ++running);
    for (let hop = 0; hop < item; hop++) await Promise.resolve();
    running--;
    return item;
  });
  assert.deepEqual(results, [5, 4, 3, 2, 1]);
  assert.equal(most, 2);
});

test('shard ids never repeat', () => {
  const { context } = alone({});
  const ids = Array.from({ length: 50 }, () => uniqueShardId(context, 'x'));
  assert.equal(new Set(ids).size, 50);
  for (const id of ids) assert.match(id, /^conf-x-\d+-\d+$/);
});

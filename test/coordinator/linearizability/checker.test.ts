// Proves that the checker accepts what a linearizable register may do, rejects each kind of history
// that it may not, and agrees with trying every order on random small histories.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check } from './checker.ts';
import type { Entry } from './history.ts';
import { type Answer, type Operation, type Register, step } from './model.ts';

const ok: Answer = { kind: 'ok' };
const refused: Answer = { kind: 'refused' };
const value = (shard: string | null): Answer => ({ kind: 'value', shard });
const bind = (shard: string): Operation => ({ kind: 'bind', shard });
const force = (shard: string): Operation => ({ kind: 'force', shard });
const read: Operation = { kind: 'read' };
const unbind: Operation = { kind: 'unbind' };

type Row = readonly [number, number | 'never', Operation, Answer | undefined];

function entriesOf(rows: readonly Row[]): Entry[] {
  return rows.map(([calledAt, returnedAt, operation, answer], at) => ({
    client: `c${at}`,
    operation,
    answer,
    calledAt,
    returnedAt: returnedAt === 'never' ? Number.POSITIVE_INFINITY : returnedAt,
  }));
}

const table: readonly (readonly [string, 'linearizable' | 'violation', readonly Row[]])[] = [
  ['nothing', 'linearizable', []],
  [
    'a write, then its read',
    'linearizable',
    [
      [1, 2, bind('a'), ok],
      [3, 4, read, value('a')],
    ],
  ],
  [
    'a stale read',
    'violation',
    [
      [1, 2, bind('a'), ok],
      [3, 4, read, value(null)],
    ],
  ],
  [
    'a read beside the write',
    'linearizable',
    [
      [1, 4, bind('a'), ok],
      [2, 3, read, value(null)],
    ],
  ],
  ['a read of what nobody wrote', 'violation', [[1, 2, read, value('a')]]],
  [
    'two winners of one bind',
    'violation',
    [
      [1, 3, bind('a'), ok],
      [2, 4, bind('b'), ok],
    ],
  ],
  [
    'one winner',
    'linearizable',
    [
      [1, 3, bind('a'), ok],
      [2, 4, bind('b'), refused],
    ],
  ],
  ['a refusal without a winner', 'violation', [[1, 2, bind('a'), refused]]],
  [
    'a refusal after an unbind',
    'violation',
    [
      [1, 2, bind('a'), ok],
      [3, 4, unbind, ok],
      [5, 6, bind('b'), refused],
    ],
  ],
  [
    'a lost acknowledged write',
    'violation',
    [
      [1, 2, bind('a'), ok],
      [3, 4, force('b'), ok],
      [5, 6, read, value('a')],
    ],
  ],
  [
    'an unheard write that happened late',
    'linearizable',
    [
      [1, 'never', force('a'), undefined],
      [2, 3, read, value(null)],
      [4, 5, read, value('a')],
    ],
  ],
  [
    'an unheard write that was undone',
    'violation',
    [
      [1, 'never', force('a'), undefined],
      [2, 3, read, value('a')],
      [4, 5, read, value(null)],
    ],
  ],
  [
    'an unheard write before its call',
    'violation',
    [
      [1, 2, read, value('a')],
      [3, 'never', force('a'), undefined],
    ],
  ],
  [
    'reads that go back',
    'violation',
    [
      [1, 9, force('a'), ok],
      [2, 3, read, value('a')],
      [4, 5, read, value(null)],
    ],
  ],
];

for (const [name, expected, rows] of table) {
  test(`${name}: ${expected}`, () => {
    assert.equal(check(entriesOf(rows)).kind, expected);
  });
}

/** The oracle: every order of every subset of the unheard ones. */
function byTryingAll(entries: readonly Entry[], register: Register = null): boolean {
  if (entries.every(({ answer }) => answer === undefined)) return true;
  const firstReturn = Math.min(...entries.map(({ returnedAt }) => returnedAt));
  return entries.some((entry) => {
    if (entry.calledAt > firstReturn) return false;
    const after = step(register, entry.operation, entry.answer);
    const rest = entries.filter((other) => other !== entry);
    return after !== undefined && byTryingAll(rest, after);
  });
}

test('random histories of up to six operations: the same verdict as trying every order', () => {
  const operation = fc.constantFrom<Operation>(bind('a'), bind('b'), force('a'), unbind, read);
  const shape = fc.record({ operation, at: fc.nat(20), lasts: fc.integer({ min: 1, max: 12 }) });
  const answers = fc.constantFrom<Answer | undefined>(
    ok,
    refused,
    value('a'),
    value(null),
    undefined,
  );
  const histories = fc.array(fc.tuple(shape, answers), { maxLength: 6 });
  let violations = 0;
  let accepted = 0;
  fc.assert(
    fc.property(histories, (rows) => {
      const entries = entriesOf(
        rows.map(([{ operation: op, at, lasts }, answer], index): Row => {
          const calledAt = at * 10 + index;
          const end = answer === undefined ? 'never' : calledAt + lasts * 10 + 5;
          return [calledAt, end, op, fitting(op, answer)];
        }),
      );
      const expected = byTryingAll(entries);
      if (expected) accepted += 1;
      else violations += 1;
      assert.equal(check(entries).kind, expected ? 'linearizable' : 'violation');
    }),
    { numRuns: 1_000 },
  );
  assert.ok(violations > 50 && accepted > 50, `${violations} violations, ${accepted} accepted`);
});

/** An answer of the right sort for the operation. */
function fitting(operation: Operation, answer: Answer | undefined): Answer | undefined {
  if (answer === undefined) return undefined;
  if (operation.kind === 'read') return answer.kind === 'value' ? answer : value('b');
  return answer.kind === 'value' ? ok : answer;
}

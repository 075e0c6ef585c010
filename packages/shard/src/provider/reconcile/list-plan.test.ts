// Proves which List is asked for next: cursors in incremental mode, and everything that leads
// back to a full one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Cursor,
  FULL_LIST_EVERY_MS,
  isSetBack,
  ListPlan,
  MAX_REVISION_BYTES,
} from './list-plan.ts';

const full = { kind: 'full' } as const;
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const cursor = (...values: number[]): Cursor => ({ revision: bytes(...values), connection: '1' });

test('full mode asks for everything, whatever the provider returns', () => {
  const plan = new ListPlan('full');
  plan.applied(full, cursor(1), 0);
  assert.deepEqual(plan.next(1), full);
});

test('incremental mode threads the cursor and lists in full every ten minutes', () => {
  const plan = new ListPlan('incremental');
  assert.deepEqual(plan.next(0), full);
  plan.applied(full, cursor(1), 0);
  const delta = plan.next(10);
  assert.deepEqual(delta, { kind: 'delta', sinceRevision: bytes(1) });
  plan.applied(delta, cursor(2), 10);
  assert.deepEqual(plan.next(FULL_LIST_EVERY_MS - 1), { kind: 'delta', sinceRevision: bytes(2) });
  assert.deepEqual(plan.next(FULL_LIST_EVERY_MS), full, 'a delta does not put it off');
  plan.applied(full, cursor(3), FULL_LIST_EVERY_MS);
  assert.equal(plan.next(FULL_LIST_EVERY_MS + 1).kind, 'delta');
});

test('no usable revision, or doubt about it: full', () => {
  for (const revision of [bytes(), new Uint8Array(MAX_REVISION_BYTES + 1)]) {
    const plan = new ListPlan('incremental');
    plan.applied(full, { revision, connection: '1' }, 0);
    assert.deepEqual(plan.next(1), full);
  }
  const plan = new ListPlan('incremental');
  plan.applied(full, { revision: new Uint8Array(MAX_REVISION_BYTES), connection: '1' }, 0);
  assert.equal(plan.next(1).kind, 'delta');
  plan.askFull();
  assert.deepEqual(plan.next(1), full);
});

test('a full List that is asked for while another List is under way is the next one', () => {
  const plan = new ListPlan('incremental');
  plan.applied(plan.next(0), cursor(1), 0);
  const delta = plan.next(1);
  plan.askFull();
  plan.applied(delta, cursor(2), 1);
  assert.deepEqual(plan.next(2), full);
  plan.applied(full, cursor(3), 2);
  assert.equal(plan.next(3).kind, 'delta');
});

test('the cursor is a copy: the answer it came in is not kept alive, nor is it changed by it', () => {
  const answer = new Uint8Array(1_000).fill(7);
  const plan = new ListPlan('incremental');
  plan.applied(full, { revision: answer.subarray(0, 4), connection: '1' }, 0);
  answer.fill(0);
  const next = plan.next(1);
  assert.ok(next.kind === 'delta');
  assert.deepEqual(next.sinceRevision, bytes(7, 7, 7, 7));
  assert.equal(next.sinceRevision.buffer.byteLength, 4);
});

test('an answer on another connection contradicts the cursor, and so does a revision below it', () => {
  const counter = (text: string, connection: string): Cursor => ({
    revision: Buffer.from(text),
    connection,
  });
  const plan = new ListPlan('incremental');
  assert.equal(plan.isContradicted(counter('1', '1')), false, 'nothing to contradict');
  plan.applied(full, counter('5', '1'), 0);
  assert.equal(plan.isContradicted(counter('5', '1')), false);
  assert.equal(plan.isContradicted(counter('6', '2')), true);
  assert.equal(plan.isContradicted(counter('4', '1')), true);
  plan.askFull();
  assert.equal(plan.isContradicted(counter('4', '2')), false, 'a full List comes anyway');
});

const cases: readonly (readonly [string, string, string, boolean])[] = [
  ['a counter goes on', '9', '10', false],
  ['nothing changed', '7', '7', false],
  ['a counter went back', '10', '9', true],
  ['beyond what a number holds', '9007199254740993', '9007199254740992', true],
  ['the largest counter', '18446744073709551615', '0', true],
  ['a counter became opaque', '12', 'a1', true],
  ['opaque became a counter', 'a1', '12', true],
  ['a counter is gone', '12', '', true],
  ['opaque, whatever its order', 'b', 'a', false],
  ['more digits than a counter has', '100000000000000000000', '99', true],
  ['signs are no counters', '-2', '-3', false],
];
for (const [name, before, after, isContradiction] of cases) {
  test(name, () => {
    assert.equal(isSetBack(Buffer.from(after), Buffer.from(before)), isContradiction);
  });
}

test('cursors with an incarnation are opaque, even when they look like digits in part', () => {
  const before = Buffer.concat([Buffer.alloc(16, 0x39), Buffer.from([0, 0, 0, 0, 0, 0, 0, 9])]);
  const after = Buffer.concat([Buffer.alloc(16, 0x38), Buffer.from([0, 0, 0, 0, 0, 0, 0, 1])]);
  assert.equal(isSetBack(after, before), false);
});

// Proves the bounds and the order of acknowledgements and of what is remembered as done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InstructAckInit, AckQueue } from './acks.ts';
import { DoneSet } from './worker.ts';

const ack = (instructionId: string, reason = ''): InstructAckInit => ({ instructionId, reason });
const dropped = { count: 0, inc: (by = 1): void => void (dropped.count += by) };
const ids = (acks: readonly InstructAckInit[]): string[] =>
  acks.map((each) => each.instructionId ?? '');

test('what was put back comes before what was said since', () => {
  const queue = new AckQueue(dropped);
  for (const id of ['a', 'b']) queue.push(ack(id));
  const taken = queue.take();
  queue.push(ack('c'));
  queue.putBack(taken);
  assert.deepEqual(ids(queue.take()), ['a', 'b', 'c']);
});

test('one acknowledgement per instruction: the newest counts', () => {
  const queue = new AckQueue(dropped);
  queue.push(ack('a', 'failed'));
  const taken = queue.take();
  queue.push(ack('a', 'then done'));
  queue.putBack(taken);
  assert.deepEqual(
    queue.take().map(({ reason }) => reason),
    ['then done'],
  );
});

test('a report takes so many, and beyond the bound they are dropped and counted', () => {
  const queue = new AckQueue(dropped);
  for (let at = 0; at < 1_030; at++) queue.push(ack(`i${at}`));
  assert.deepEqual([queue.size, dropped.count], [1_024, 6]);
  const taken = queue.take();
  assert.deepEqual([taken.length, queue.size], [256, 768]);
  queue.putBack(taken);
  assert.deepEqual([queue.size, dropped.count], [1_024, 6]);
});

test('the done set forgets what was used longest ago', () => {
  const done = new DoneSet(3);
  for (const id of ['a', 'b', 'c']) done.add(id, ack(id));
  assert.ok(done.find('a') !== undefined);
  done.add('d', ack('d'));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => done.find(id) !== undefined),
    [true, false, true, true],
  );
  assert.equal(done.size, 3);
});

// Proves what the book of transfers remembers, and that nothing but CANCEL and RELEASE ends a freeze.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { override, stored } from './testing/builders.ts';
import {
  cancelledIn,
  claimedIn,
  clearedIn,
  emptyBook,
  foldRecord,
  frozenIn,
  frozenMachines,
  goneIn,
  releasedIn,
  reportTransfers,
  retiredIn,
  settledIn,
  type TransferBook,
} from './transfer-book.ts';

const step = (transferId: string, ...machineIds: string[]) => ({
  transferId,
  peerShardId: 's2',
  machineIds,
});
const states = (book: TransferBook): string[] =>
  reportTransfers(book).map(
    ({ transferId, role, state, machineIds }) =>
      `${transferId} ${role} ${state} ${machineIds.join()}`,
  );

test('each step is reported with its role until the ledger retires it', () => {
  let book = frozenIn(emptyBook, step('t1', 'a', 'b'));
  assert.deepEqual(states(book), ['t1 donor frozen a,b']);
  assert.deepEqual([...frozenMachines(book)], ['a', 'b']);
  book = releasedIn(book, step('t1', 'a', 'b'));
  book = claimedIn(book, step('t2', 'c'));
  assert.deepEqual(states(book), ['t1 donor released a,b', 't2 recipient claimed c']);
  assert.equal(frozenMachines(book).size, 0);
  assert.deepEqual(states(retiredIn(book, ['t1', 't2', 'unknown'])), []);
});

test('retiring does not end a freeze: only CANCEL or RELEASE do', () => {
  const book = frozenIn(emptyBook, step('t1', 'a'));
  assert.equal(retiredIn(book, ['t1']), book);
  assert.deepEqual([...frozenMachines(cancelledIn(book, 't1'))], []);
});

test('a release is evidence while the assignment gives one of its machines away, a freeze always', () => {
  const released = releasedIn(emptyBook, step('t1', 'a', 'b'));
  const book = frozenIn(claimedIn(released, step('t2', 'c')), step('t3', 'd'));
  assert.equal(settledIn(book, [override('b', 't1')]), book);
  assert.deepEqual(states(settledIn(book, [override('z', 't9')])), [
    't2 recipient claimed c',
    't3 donor frozen d',
  ]);
});

test('gone machines are reported beside what is left, until the ledger clears them', () => {
  const claimed = claimedIn(emptyBook, step('t1', 'a', 'b'));
  const book = goneIn(claimed, [override('b', 't1')]);
  assert.deepEqual(states(book), ['t1 recipient claimed a', 't1 recipient gone b']);
  assert.equal(clearedIn(book, [override('a'), override('b')]), book);
  assert.deepEqual(states(clearedIn(book, [override('a')])), ['t1 recipient claimed a,b']);
  assert.deepEqual(states(goneIn(book, [override('a', 't1')])), ['t1 recipient gone a,b']);
});

test('a machine that comes back with a later transfer is not gone', () => {
  const book = goneIn(claimedIn(emptyBook, step('t1', 'a')), [override('a', 't1')]);
  assert.deepEqual([...claimedIn(book, step('t2', 'a')).gone], []);
});

test('a machine is in one list of overrides only', () => {
  const moved = (state: 'released' | 'claimed', transferId: string, order: number) => ({
    ...step(transferId, 'm'),
    state,
    covered: new Map(),
    order,
  });
  const there = foldRecord(stored({ adopted: [override('m', 't1')] }), moved('released', 't2', 4));
  assert.deepEqual(
    [there.adopted, there.released, there.foldedOrder],
    [[], [override('m', 't2', 's2')], 4],
  );
  const back = foldRecord(there, moved('claimed', 't3', 2));
  assert.deepEqual(
    [back.adopted, back.released, back.foldedOrder],
    [[override('m', 't3', 's2')], [], 4],
  );
});

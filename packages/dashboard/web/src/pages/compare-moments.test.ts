// Proves that a comparison of two moments loses no name of either and subtracts the right way round.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NeedRow } from '../../../src/api/common.ts';
import { compareShares, compareUnmet, largestChanges } from './compare-moments.ts';

const share = (name: string, count: number, dollarsPerHour: number) => ({
  name,
  count,
  dollarsPerHour,
});

test('names of both sides are kept, and a rise is positive', () => {
  const compared = compareShares(
    [share('a', 2, 1), share('b', 1, 5)],
    [share('b', 4, 6), share('c', 1, 9)],
  );
  assert.deepEqual(
    compared.map(({ name, countDifference, dollarsDifference }) => [
      name,
      countDifference,
      dollarsDifference,
    ]),
    [
      ['a', -2, -1],
      ['b', 3, 1],
      ['c', 1, 9],
    ],
  );
});

test('the largest changes come first and what stayed the same is left out', () => {
  const compared = compareShares(
    [share('same', 3, 3), share('small', 1, 1), share('large', 1, 50), share('moved', 5, 2)],
    [share('same', 3, 3.001), share('small', 2, 2), share('large', 1, 10), share('moved', 9, 2)],
  );
  assert.deepEqual(
    largestChanges(compared, 3).map(({ name }) => name),
    ['large', 'small', 'moved'],
  );
  assert.equal(largestChanges(compared, 1).length, 1);
});

test('needs of one name in two clusters are two needs', () => {
  const need = (cluster: string, fingerprint: string) =>
    ({ cluster, fingerprint, group: '' }) as NeedRow;
  const { nowUnmet, nowMet, stillUnmet } = compareUnmet(
    [need('a', 'x'), need('b', 'x')],
    [need('b', 'x'), need('a', 'y')],
  );
  assert.deepEqual(nowUnmet, [need('a', 'y')]);
  assert.deepEqual(nowMet, [need('a', 'x')]);
  assert.deepEqual(stillUnmet, [need('b', 'x')]);
});

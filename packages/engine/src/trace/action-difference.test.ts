// Proves that a difference counts actions by multiplicity, keeps bounded lists with exact
// counts, and reads well.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind } from '../model/action.ts';
import {
  describeAction,
  describeDifference,
  differenceOf,
  MAX_KEPT_ACTIONS,
} from './action-difference.ts';
import type { DecidedAction } from './entry.ts';

const reclaim = (machineId: string): DecidedAction => ({
  kind: ActionKind.Reclaim,
  machineId,
  cluster: 'a',
  fingerprint: '',
  group: '',
  graceSeconds: 600,
  preemptorPriority: 0,
});

test('one action decided twice differs from one decided once', () => {
  const difference = differenceOf([reclaim('m'), reclaim('m')], [reclaim('m')]);
  assert.deepEqual([difference.onlyACount, difference.onlyBCount], [1, 0]);
  assert.deepEqual(difference.onlyA, [reclaim('m')]);
  assert.equal(difference.firstIndex, 1);
});

test('equal lists have no difference', () => {
  const difference = differenceOf([reclaim('m')], [reclaim('m')]);
  assert.deepEqual(
    [difference.onlyACount, difference.onlyBCount, difference.firstIndex],
    [0, 0, -1],
  );
});

test('long differences are cut, their counts are not', () => {
  const many = Array.from({ length: MAX_KEPT_ACTIONS + 5 }, (_, at) => reclaim(`m${at}`));
  const difference = differenceOf([], many);
  assert.equal(difference.onlyBCount, many.length);
  assert.equal(difference.onlyB.length, MAX_KEPT_ACTIONS);
  assert.deepEqual(difference.onlyBByKind, { 1: 0, 2: 0, 3: many.length, 4: 0, 5: 0 });
  const lines = describeDifference(difference, 'old', 'new');
  assert.equal(lines.length, 11);
  assert.equal(lines.at(-1), `  only new: … and ${many.length - 10} more`);
});

test('an action reads as a line, hostile names escaped', () => {
  assert.equal(describeAction(reclaim('m\n1')), 'Reclaim "m\\n1", cluster "a", grace 600 s');
});

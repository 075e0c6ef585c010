// Proves who may begin a cluster: ordinal 0 with --bootstrap, on an empty disk, when nobody answers;
// and that nobody is asked when the answer could not matter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideFormation, type Formation, ordinalOf } from './join-client.ts';

type Case = readonly [
  hasMember: boolean,
  ordinal: number,
  bootstrap: boolean,
  answers: boolean | 'not asked',
  formation: Formation,
];

const table: readonly Case[] = [
  [true, 0, true, 'not asked', 'resume'],
  [true, 2, false, 'not asked', 'resume'],
  [false, 0, true, false, 'bootstrap'],
  [false, 0, true, true, 'join'],
  [false, 0, false, 'not asked', 'join'],
  [false, 1, true, 'not asked', 'join'],
  [false, 2, false, 'not asked', 'join'],
];

for (const [hasMember, ordinal, bootstrap, answers, formation] of table) {
  const disk = hasMember ? 'data' : 'empty';
  test(`${disk}, ordinal ${ordinal}, bootstrap ${bootstrap}, ${answers}: ${formation}`, async () => {
    let asked = 0;
    const probe = (): Promise<boolean> => {
      asked += 1;
      return Promise.resolve(answers === true);
    };
    assert.equal(await decideFormation({ hasMember, ordinal, bootstrap, probe }), formation);
    assert.equal(asked, answers === 'not asked' ? 0 : 1);
  });
}

test('the ordinal is the number at the end of the id; without one the start is refused', () => {
  assert.equal(ordinalOf('bigfleet-coordinator-2'), 2);
  assert.equal(ordinalOf('node-10'), 10);
  for (const id of ['node', 'node2', 'node-', 'node-1x', '']) {
    assert.throws(() => ordinalOf(id), { code: 'etcd_no_ordinal' });
  }
});

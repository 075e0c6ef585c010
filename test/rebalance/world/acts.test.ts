// Proves that the law of acts sees a machine that two shards act on, and only that.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Act, foreignActs, type Handover } from './acts.ts';

function acts(...given: readonly string[]): readonly Act[] {
  return given.map((text) => {
    const [kind = '', machineId = '', shardId = ''] = text.split(' ');
    return { kind, machineId, shardId };
  });
}

function moved(machineId: string, from: string, to: string): Handover {
  return { from, to, machineIds: [machineId] };
}

const cases: readonly [string, readonly Act[], readonly Handover[], readonly string[]][] = [
  ['one owner', acts('configure m a', 'drain m a', 'configure n b'), [], []],
  ['two owners', acts('configure m a', 'drain m b'), [], ['drain of m by b, owned by a']],
  ['handed over', acts('drain m a', 'configure m b'), [moved('m', 'a', 'b')], []],
  [
    'the old owner after the new one',
    acts('configure m b', 'drain m a'),
    [moved('m', 'a', 'b')],
    ['drain of m by a, owned by b'],
  ],
  [
    'another machine moved',
    acts('drain m a', 'drain m b'),
    [moved('n', 'a', 'b')],
    ['drain of m by b, owned by a'],
  ],
  [
    'there and back untouched',
    acts('drain m a', 'configure m a'),
    [moved('m', 'a', 'b'), moved('m', 'b', 'a')],
    [],
  ],
  [
    'moved on twice between two acts',
    acts('drain m a', 'configure m c'),
    [moved('m', 'a', 'b'), moved('m', 'b', 'c')],
    [],
  ],
  ['the receiver before any act of the giver', acts('configure m b'), [moved('m', 'a', 'b')], []],
];
for (const [name, given, handovers, expected] of cases) {
  test(name, () => {
    assert.deepEqual(foreignActs(given, handovers), expected);
  });
}

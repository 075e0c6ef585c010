// Proves which revisions contradict a cursor: counters that went back and other kinds of cursor, and
// never two opaque ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSetBack } from './counter-cursor.ts';

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

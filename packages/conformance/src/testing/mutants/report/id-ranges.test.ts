// Proves that ranges follow the catalogue, gaps of its numbering included, and lose no id.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idRanges } from './id-ranges.ts';

for (const [ids, expected] of [
  ['', ''],
  ['B101', 'B101'],
  ['B101 B103', 'B101 B103'],
  ['B101 B103 B104', 'B101–B104'],
  ['B101 B104 B105 B106 B214 B215 B301', 'B101 B104–B106 B214–B301'],
  ['B505 B701 B801', 'B505 B701 B801'],
] as const) {
  test(ids === '' ? 'nothing' : ids, () => {
    assert.equal(idRanges(ids.split(' ').filter((id) => id !== '')), expected);
  });
}

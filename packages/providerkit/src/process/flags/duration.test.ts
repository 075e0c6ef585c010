// Proves which spellings are durations, and that what is printed is read back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

test('spellings', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['0', 0],
    ['45s', 45_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['1h1m1s1ms', 3_661_001],
    ['30', undefined],
    ['', undefined],
    ['-5m', undefined],
    ['5 m', undefined],
    ['m', undefined],
    ['5d', undefined],
    ['1e3s', undefined],
    ['99999999h', undefined],
    ['5m extra', undefined],
  ];
  for (const [text, expected] of cases) assert.equal(parseDuration(text), expected, text);
});

test('what is printed is read back', () => {
  fc.assert(
    fc.property(fc.nat({ max: 30 * 24 * 3_600_000 }), (ms) => {
      assert.equal(parseDuration(formatDuration(ms)), ms);
    }),
  );
  assert.equal(formatDuration(5_400_000), '1h30m');
});

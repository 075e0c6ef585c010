// Proves how figures read everywhere: one minus sign, none before what rounds to nothing, separators, cents
// where they matter, milliseconds that do not vanish.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatCents,
  formatChange,
  formatCompact,
  formatCount,
  formatDifference,
  formatDollars,
  formatFine,
  formatPenalty,
  formatPercent,
  formatPrice,
  isMaterial,
} from './format.ts';

test('a penalty is money with separators, and a word stays a word', () => {
  const buckets = ['0', '0.5', '1', '512', '8388608', 'pinned', ''];
  assert.deepEqual(buckets.map(formatPenalty), [
    '$0',
    '$0.50',
    '$1',
    '$512',
    '$8,388,608',
    'pinned',
    '',
  ]);
});

test('short times keep a digit that tells them apart', () => {
  const times = [0, 0.01, 0.4, 3.14, 9.96, 42, 1_240];
  assert.deepEqual(times.map(formatFine), [
    '0 ms',
    '<0.1 ms',
    '0.4 ms',
    '3.1 ms',
    '10 ms',
    '42 ms',
    '1.2 s',
  ]);
});

test('a negative figure of any kind begins with the same minus sign', () => {
  const figures = [
    [formatCount(-1_234), '−1,234'],
    [formatCompact(-12_300), '−12.3K'],
    [formatCents(-247.84), '−$247.84'],
    [formatDollars(-1_247.84), '−$1,248'],
    [formatPrice(-0.0336), '−$0.0336'],
    [formatPrice(-3), '−$3.00'],
    [formatPercent(-0.125), '−12.5%'],
  ] as const;
  for (const [told, expected] of figures) assert.equal(told, expected);
});

test('what rounds to nothing has no sign', () => {
  assert.equal(formatCents(-0.001), '$0.00');
  assert.equal(formatCount(-0), '0');
  assert.equal(formatPrice(-0.000_01), '$0.0000');
  assert.equal(formatDifference(-0.001, formatDollars), '$0.00');
  assert.equal(formatDifference(0, formatCount), '0');
});

test('a difference says which way it goes', () => {
  assert.equal(formatDifference(3, formatCount), '+3');
  assert.equal(formatDifference(-2.4, formatDollars), '−$2.40');
});

test('a change has its share only where the share means something', () => {
  assert.equal(formatChange(100, 112, formatDollars), '+$12.00 (+12%)');
  assert.equal(formatChange(100, 88, formatDollars), '−$12.00 (−12%)');
  assert.equal(formatChange(507.2, 507.25, formatDollars), '+$0.05');
  assert.equal(formatChange(0, 3, formatCount), '+3');
  assert.equal(formatChange(9.7, 9.7001, formatDollars), '');
  assert.ok(isMaterial(0, 1));
  assert.ok(!isMaterial(507.2, 507.25));
  assert.ok(!isMaterial(0, 0));
});

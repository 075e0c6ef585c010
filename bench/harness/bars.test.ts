// Proves when a bar breaks: outside its bounds, and whenever there is no number to compare.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bars } from './define-bench.ts';
import { brokenBars } from './bars.ts';
import { exampleResult } from './testing-result.ts';

const result = exampleResult('engine/x', {
  extra: { ratio: 0.93, text: '5', broken: Number.NaN },
  allocBytesPerOp: null,
});

const cases: readonly [bars: Bars, broken: RegExp | null][] = [
  [{ 'extra.ratio': { min: 0.9 } }, null],
  [{ 'extra.ratio': { min: 0.93, max: 0.93 } }, null],
  [{ 'extra.ratio': { min: 0.94 } }, /engine\/x: extra\.ratio is 0\.93, bar ≥ 0\.94/],
  [{ 'perK.p50': { max: 8 } }, null],
  [{ 'perK.p50': { max: 7.9 } }, /perK\.p50 is 8, bar ≤ 7\.9/],
  [{ p99Ms: { min: 1, max: 5 } }, /p99Ms is 6, bar ≥ 1 and ≤ 5/],
  [{ 'extra.missing': { max: 5 } }, /not measured/],
  [{ 'extra.text': { max: 5 } }, /not measured/],
  [{ 'extra.broken': { max: 5 } }, /not measured/],
  [{ allocBytesPerOp: { max: 65_536 } }, /not measured/],
  [{ 'extra.constructor.length': { min: 0 } }, /not measured/],
];

test('bars', () => {
  for (const [bars, broken] of cases) {
    const lines = brokenBars(result, bars);
    if (broken === null) assert.deepEqual(lines, []);
    else assert.match(lines.join('\n'), broken);
  }
});

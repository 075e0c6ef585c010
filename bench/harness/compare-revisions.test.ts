// Proves the verdict over paired runs of two revisions, and that noise is called noise.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Verdict, compareRuns, renderComparison } from './compare-revisions.ts';
import type { Results } from './results.ts';
import { exampleResult, exampleResults } from './testing-result.ts';

function runs(name: string, p50s: readonly number[]): readonly Results[] {
  return p50s.map((p50Ms) => exampleResults([exampleResult(name, { p50Ms })]));
}

const steadyA = [10, 10.1, 9.9, 10, 10.2, 9.8, 10, 10.1, 9.9];

const cases: readonly [b: readonly number[], verdict: Verdict][] = [
  [steadyA.map((ms) => ms * 0.8), 'faster'],
  [steadyA.map((ms) => ms * 1.05), 'slower'],
  [steadyA.toReversed(), 'inside the noise'],
  [steadyA.map((ms, round) => ms * (round % 2 === 0 ? 1.3 : 0.7)), 'inside the noise'],
];

test('verdicts', () => {
  for (const [b, verdict] of cases) {
    const [comparison] = compareRuns(runs('a/b', steadyA), runs('a/b', b));
    assert.equal(comparison?.verdict, verdict);
  }
});

test('one wild round does not decide', () => {
  const b = steadyA.map((ms, round) => (round === 3 ? ms * 50 : ms * 0.9));
  const [comparison] = compareRuns(runs('a/b', steadyA), runs('a/b', b));
  assert.equal(comparison?.verdict, 'faster');
  assert.equal(comparison?.ratio.median.toFixed(2), '0.90');
});

test('too few rounds claim nothing', () => {
  const [comparison] = compareRuns(runs('a/b', [1, 1, 1]), runs('a/b', [9, 9, 9]));
  assert.equal(comparison?.verdict, 'too few rounds');
});

test('a shape that one side lacks is left out', () => {
  assert.deepEqual(compareRuns(runs('a/b', steadyA), runs('a/c', steadyA)), []);
});

test('the line names the faster revision', () => {
  const b = steadyA.map((ms) => ms / 2);
  const text = renderComparison(compareRuns(runs('a/b', steadyA), runs('a/b', b)), ['old', 'new']);
  assert.equal(text, 'a/b  old 10.00 ms  new 5.000 ms  ×0.500 [0.500, 0.500]  new is faster\n');
});

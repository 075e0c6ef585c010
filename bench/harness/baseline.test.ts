// Proves comparison with the committed baseline, its update, and what it refuses to read.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Baseline,
  againstBaseline,
  readBaseline,
  regressions,
  updatedBaseline,
  writeBaseline,
} from './baseline.ts';
import { exampleResult, exampleResults } from './testing-result.ts';

const baseline: Baseline = {
  kernel: '3caab460',
  machine: null,
  revision: 'old',
  perK: { 'wire/unary': { p50: 4, p95: 5, p99: 6 }, 'wire/bidi': { p50: 8, p95: 9, p99: 10 } },
};

function inFolder(use: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-baseline-'));
  try {
    use(join(folder, 'baseline.json'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('ratios in perK; a new name and an inherited name have none', () => {
  assert.deepEqual(againstBaseline(exampleResult('wire/unary'), baseline), { p50: 2, p99: 2 });
  assert.equal(againstBaseline(exampleResult('wire/new'), baseline), undefined);
  assert.equal(againstBaseline(exampleResult('constructor'), baseline), undefined);
});

test('regressions are those beyond the factor', () => {
  const results = [exampleResult('wire/unary'), exampleResult('wire/bidi'), exampleResult('x/y')];
  assert.deepEqual(regressions(results, baseline, 1.5), [
    'wire/unary: p50 is 2.00 × baseline, limit 1.5',
  ]);
  assert.deepEqual(regressions(results, baseline, 2), []);
});

test('an update replaces measured rows, keeps others, skips noisy ones, rounds and sorts', () => {
  const run = exampleResults([
    exampleResult('wire/unary', { perK: { p50: 1.234567, p95: 2, p99: 3 } }),
    exampleResult('wire/bidi', { extra: { noisy: true } }),
    exampleResult('base/new'),
  ]);
  const updated = updatedBaseline(baseline, run);
  assert.deepEqual(Object.keys(updated.perK), ['base/new', 'wire/bidi', 'wire/unary']);
  assert.equal(updated.perK['wire/unary']?.p50, 1.235);
  assert.deepEqual(updated.perK['wire/bidi'], baseline.perK['wire/bidi']);
  assert.equal(updated.revision, '0123abc');
});

test('written and read back; absent means empty', () => {
  inFolder((path) => {
    assert.deepEqual(readBaseline(path).perK, {});
    writeBaseline(path, baseline);
    assert.deepEqual(readBaseline(path), baseline);
  });
});

test('another kernel’s numbers and other documents are refused', () => {
  inFolder((path) => {
    writeFileSync(path, JSON.stringify({ ...baseline, kernel: 'ffff' }));
    assert.throws(() => readBaseline(path), /kernel ffff/);
    for (const bad of [null, { perK: {} }, { ...baseline, perK: { x: { p50: 0 } } }]) {
      writeFileSync(path, JSON.stringify(bad));
      assert.throws(() => readBaseline(path), /not a bench baseline/);
    }
  });
});

test('the committed baseline is one', () => {
  assert.ok(
    Object.keys(readBaseline(join(import.meta.dirname, '../baseline.json')).perK).length > 0,
  );
});

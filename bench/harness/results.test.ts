// Proves the form of the results document: exactly the agreed names, numbers that are numbers.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseResults, resultsProblems, writeResults } from './results.ts';
import { exampleResult, exampleResults } from './testing-result.ts';

const example = exampleResults([exampleResult('wire/unary', { extra: { ratio: 0.97 } })]);

test('field names are the interface', () => {
  assert.deepEqual(resultsProblems(example), []);
  assert.deepEqual(Object.keys(example), [
    'machine',
    'revision',
    'calibrationMs',
    'noisy',
    'results',
  ]);
  assert.deepEqual(Object.keys(example.machine), ['cpu', 'cores', 'memoryGiB', 'node']);
  assert.deepEqual(Object.keys(example.results[0] ?? {}), [
    'name',
    'shape',
    'iterations',
    'p50Ms',
    'p95Ms',
    'p99Ms',
    'maxMs',
    'perK',
    'allocBytesPerOp',
    'rssBytes',
    'samplesFile',
    'extra',
  ]);
});

const [row] = example.results;
const wrong: readonly [value: unknown, problem: RegExp][] = [
  [null, /document: not an object/],
  [{ ...example, results: 1 }, /results: not a list/],
  [{ ...example, revision: undefined }, /revision: not a string/],
  [{ ...example, noisy: 'yes' }, /noisy: not a boolean/],
  [{ ...example, further: 1 }, /further: unknown field/],
  [{ ...example, machine: { ...example.machine, cores: '2' } }, /machine\.cores: not a number/],
  [{ ...example, results: [{ ...row, p99Ms: null }] }, /results\[0\]\.p99Ms: not a number/],
  [{ ...example, results: [{ ...row, p99Ms: Number.NaN }] }, /p99Ms: not a number/],
  [{ ...example, results: [{ ...row, perK: { p50: 1 } }] }, /perK\.p95: not a number/],
  [{ ...example, results: [{ ...row, allocBytesPerOp: '1' }] }, /allocBytesPerOp/],
  [{ ...example, results: [{ ...row, extra: [] }] }, /extra: not a/],
  [{ ...example, results: [7] }, /results\[0\]: not an object/],
];

test('each departure is named', () => {
  for (const [value, problem] of wrong) assert.match(resultsProblems(value).join('\n'), problem);
});

test('a bench may leave allocations unmeasured', () => {
  const open = exampleResults([exampleResult('wire/streams-5k', { allocBytesPerOp: null })]);
  assert.deepEqual(resultsProblems(open), []);
});

test('written, read back, replaced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-results-'));
  try {
    writeResults(folder, exampleResults([]));
    const path = writeResults(folder, example);
    assert.deepEqual(parseResults(readFileSync(path, 'utf8')), example);
    assert.deepEqual(readdirSync(folder), ['latest.json']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('another document is refused', () => {
  assert.throws(() => parseResults('{}'), /not a results document: .*machine/);
});

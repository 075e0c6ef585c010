// Proves how the command line is read, and that nonsense is a usage error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCli } from './cli-args.ts';

test('defaults', () => {
  const expected = {
    kind: 'run',
    pattern: '*',
    output: 'table',
    updateBaseline: false,
    measureAllocations: true,
  };
  assert.deepEqual(parseCli([]), expected);
  // make bench without BENCH passes an empty pattern.
  assert.deepEqual(parseCli(['--bench', '']), expected);
});

test('every run option', () => {
  const argv = ['--bench', 'wire/*', '-o', 'json', '--iterations', '5', '--no-alloc'];
  argv.push('--fail-on-regression', '1.5', '--results', 'r', '--baseline', 'b', '--dir', 'd');
  assert.deepEqual(parseCli(argv), {
    kind: 'run',
    pattern: 'wire/*',
    output: 'json',
    iterations: 5,
    failOnRegression: 1.5,
    resultsFolder: 'r',
    baselinePath: 'b',
    folder: 'd',
    updateBaseline: false,
    measureAllocations: false,
  });
});

test('other modes', () => {
  assert.deepEqual(parseCli(['--help', '--list']), { kind: 'help' });
  assert.deepEqual(parseCli(['--list', '--bench', 'a/*']), { kind: 'list', pattern: 'a/*' });
  assert.deepEqual(parseCli(['--compare', 'HEAD~1', '.', '--rounds', '3']), {
    kind: 'compare',
    pattern: '*',
    output: 'table',
    revisions: ['HEAD~1', '.'],
    rounds: 3,
  });
});

const nonsense: readonly (readonly string[])[] = [
  ['--unknown'],
  ['stray'],
  ['--iterations', '0'],
  ['--iterations', '1e3'],
  ['--iterations', 'many'],
  ['-o', 'xml'],
  ['--compare', 'HEAD'],
  ['--compare', 'a', 'b', 'c'],
  ['--rounds', '3'],
  ['--fail-on-regression', '0.5'],
  ['--fail-on-regression', 'x'],
  ['--update-baseline', '--iterations', '5'],
];

test('usage errors', () => {
  for (const argv of nonsense) assert.equal(parseCli(argv).kind, 'usage', argv.join(' '));
});

// Proves that the table shows each result with its ratio to the baseline, and is plain text
// unless colour was asked for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Baseline } from './baseline.ts';
import { renderTable } from './table.ts';
import { exampleResult, exampleResults } from './testing-result.ts';

const baseline: Baseline = {
  kernel: '3caab460',
  machine: null,
  revision: '',
  perK: { 'wire/unary': { p50: 4, p95: 5, p99: 6 } },
};
const run = exampleResults([
  exampleResult('wire/unary'),
  exampleResult('wire/streams-5k', { allocBytesPerOp: null, extra: { noisy: true } }),
]);

test('plain table', () => {
  assert.equal(
    renderTable(run, baseline, { colour: false }),
    [
      'name             p50 ms  p99 ms  max ms  p50 K  p99 K  vs base  B/op  RSS MiB',
      'wire/unary         4.00    6.00    9.00   8.00   12.0    ×2.00  1024      100',
      'wire/streams-5k    4.00    6.00    9.00   8.00   12.0      new     –      100  noisy',
      'K = 0.500 ms · Example 9000, 2 cores, 24 GiB, node v24.0.0 · 0123abc',
      '',
    ].join('\n'),
  );
});

test('colour marks the slower and the noisy row', () => {
  const lines = renderTable(run, baseline, { colour: true }).split('\n');
  assert.ok(lines[1]?.startsWith('\u001b[31mwire/unary'));
  assert.ok(lines[2]?.startsWith('\u001b[33mwire/streams-5k'));
});

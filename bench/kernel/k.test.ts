// Proves that K still is what every bar and baseline was stated in: same inputs, same outputs,
// same code. If this fails you are changing the unit of measurement; put it back.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  buildColumns,
  CLASS_COUNT,
  CLUSTER_COUNT,
  checksum,
  countPass,
  GOLDEN_CHECKSUM,
  MACHINE_COUNT,
  measureK,
  PASS_COUNT,
} from './k.ts';

test('the issue’s numbers', () => {
  assert.deepEqual(
    [MACHINE_COUNT, CLUSTER_COUNT, CLASS_COUNT, PASS_COUNT],
    [500_000, 50, 100, 200],
  );
});

test('inputs and outputs match the golden checksum', () => {
  const columns = buildColumns();
  countPass(columns.cluster, columns.machineClass, columns.counts);
  assert.equal(checksum(columns), GOLDEN_CHECKSUM);
  assert.equal(GOLDEN_CHECKSUM, 0x3caa_b460);
});

test('the checksum sees a change of one machine and of one count', () => {
  const columns = buildColumns();
  countPass(columns.cluster, columns.machineClass, columns.counts);
  for (const column of [columns.cluster, columns.machineClass, columns.counts]) {
    const original = column[4_999] ?? 0;
    column[4_999] = original + 1;
    assert.notEqual(checksum(columns), GOLDEN_CHECKSUM);
    column[4_999] = original;
  }
  assert.equal(checksum(columns), GOLDEN_CHECKSUM);
});

test('a pass counts every machine once, uniformly, and forgets the pass before', () => {
  const { cluster, machineClass, counts } = buildColumns();
  countPass(cluster, machineClass, counts);
  countPass(cluster, machineClass, counts);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    MACHINE_COUNT,
  );
  // 100 expected per cell, standard deviation 10: 5,000 cells stay within ±5 of those.
  assert.ok(counts.every((count) => count > 50 && count < 150));
});

test('the code of the kernel is untouched', () => {
  const text = [buildColumns, countPass, checksum, measureK]
    .map((part) => part.toString().replace(/\s+/g, ' '))
    .join('\n');
  assert.equal(
    createHash('sha256').update(text).digest('hex'),
    '311f1c98b7a4acb494ea538e8d4824840d026aaf6139c15f4de10293346fd7fb',
  );
});

test('measuring K checks the checksum and yields a time', () => {
  const kMs = measureK();
  assert.ok(Number.isFinite(kMs) && kMs > 0);
});

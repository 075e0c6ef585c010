// Proves that refused roll-ups are kept until they are taken, one row per cluster and code, within
// their bounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedRollupLog } from './rollup-notes.ts';

test('one row per cluster and code, with the last detail; taken once', () => {
  const log = new RefusedRollupLog();
  assert.deepEqual(log.take(), { rollups: [], unnamedRollupCount: 0 });
  log.note('blue', 'malformed', 'first');
  log.note('green', 'malformed', 'other');
  log.note('blue', 'malformed', 'x'.repeat(500));
  log.note('blue', 'bad_bucket', 'row 3');
  assert.deepEqual(log.take(), {
    rollups: [
      { cluster: 'blue', code: 'malformed', count: 2, detail: 'x'.repeat(200) },
      { cluster: 'green', code: 'malformed', count: 1, detail: 'other' },
      { cluster: 'blue', code: 'bad_bucket', count: 1, detail: 'row 3' },
    ],
    unnamedRollupCount: 0,
  });
  assert.deepEqual(log.take().rollups, []);
});

test('beyond the bound only the number is kept, and known rows go on', () => {
  const log = new RefusedRollupLog();
  for (let at = 0; at < 300; at++) log.note(`cluster-${at}`, 'malformed', '');
  log.note('cluster-0', 'malformed', '');
  const { rollups, unnamedRollupCount } = log.take();
  assert.deepEqual([rollups.length, unnamedRollupCount, rollups[0]?.count], [256, 44, 2]);
});

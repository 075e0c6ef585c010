// Proves that decisions shown are those of the engine's records, with their reason, and that damaged
// bytes are counted instead of shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeDispositions } from '@bigfleet/engine';
import { Decisions } from './decisions.ts';
import { recordOf } from './testing/frames.ts';

test('a provision names its machine, cluster, price and reason', () => {
  const decisions = new Decisions();
  decisions.add(recordOf(1));
  const [first] = decisions.latest;
  assert.ok(first !== undefined);
  const { reason, ...rest } = first;
  assert.deepEqual(rest, {
    cycle: 1,
    kind: 'Provision',
    machineId: 'machine-000',
    cluster: 'web-eu',
    dollarsPerHour: 0.5,
  });
  assert.match(reason, /^phase1\.speculative: No idle machine covered the need/);
});

test('only the newest are kept, all are counted', () => {
  const decisions = new Decisions();
  decisions.add(recordOf(40));
  assert.equal(decisions.totalCount, 40);
  assert.equal(decisions.latest.length, 12);
  assert.equal(decisions.latest.at(-1)?.machineId, 'machine-039');
});

test('a damaged record is counted and adds nothing', () => {
  const decisions = new Decisions();
  const bytes = recordOf(1);
  bytes[8] = (bytes[8] ?? 0) ^ 0xff;
  decisions.add(bytes);
  assert.deepEqual([decisions.damagedCount, decisions.totalCount], [1, 0]);
});

test('what became of the actions is neither a decision nor damage', () => {
  const decisions = new Decisions();
  decisions.add(
    encodeDispositions({
      cycle: 1,
      reclaimCapFraction: 0,
      maxActionsPerCycle: 0,
      actionCount: 1,
      counts: new Map([['suppressed', 1]]),
      runs: [{ first: 0, count: 1, code: 'suppressed' }],
      rollups: [],
      unnamedRollupCount: 0,
    }),
  );
  assert.deepEqual([decisions.damagedCount, decisions.totalCount], [0, 0]);
});

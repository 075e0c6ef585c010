// Proves on the leader's own loops under virtual time: a real shortfall is relieved in time, nothing
// at all moves when nothing is short, and the kill switch, the dry run and the quiet time after an
// election are what they say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_REBALANCE_SETTINGS, type RebalanceSettings } from '@bigfleet/coordinator';
import { CalmFleet } from './world/calm-fleet.ts';
import type { ModelShard } from './world/model-shard.ts';

const REPORT_MS = 1_000;
const INTERVAL_MS = 5_000;
const CYCLE_MS = 1_000;
const RELIEF_MS = 6 * CYCLE_MS + INTERVAL_MS + 4 * REPORT_MS;

const SETTINGS: RebalanceSettings = { ...DEFAULT_REBALANCE_SETTINGS, intervalMs: INTERVAL_MS };

function fleet(settings: Partial<RebalanceSettings> = {}): Promise<CalmFleet> {
  return CalmFleet.start({
    shardCount: 2,
    machineCount: 20,
    reportMs: REPORT_MS,
    cyclesPerReport: 1,
    settings: { ...SETTINGS, ...settings },
  });
}

/** The first to report becomes the home of the provider: it owns everything at first. */
const home = (calm: CalmFleet): ModelShard => calm.shard(0);
const other = (calm: CalmFleet): ModelShard => calm.shard(1);

test('a shortfall is relieved within 6 cycles, a pass and 4 reports, wherever it begins', async (t) => {
  const tookMs: number[] = [];
  for (let offsetMs = 0; offsetMs < INTERVAL_MS; offsetMs += 700) {
    const calm = await fleet();
    await calm.time.runFor(60_000 + offsetMs);
    assert.equal(home(calm).owned().length, 20);
    other(calm).demand = 5;
    const relieved = (): boolean => other(calm).owned().length >= 5;
    const ms = await calm.until(relieved, RELIEF_MS);
    assert.notEqual(ms, undefined, `not within ${RELIEF_MS} ms at offset ${offsetMs}`);
    tookMs.push(ms ?? 0);
    await calm.time.runFor(10_000);
    assert.equal(home(calm).owned().length + other(calm).owned().length, 20);
    assert.equal(calm.leader.ledger.state.transfers()[0]?.phase, 'DONE');
    assert.deepEqual(calm.moves, ['1 emitted', '1 accepted', '1 committed']);
    await calm.stop();
  }
  t.diagnostic(`relieved after ${tookMs.join(', ')} ms of ${RELIEF_MS}`);
});

test('10,000 cycles without a shortfall: not one move, however uneven and restless', async () => {
  const calm = await CalmFleet.start({
    shardCount: 3,
    machineCount: 20,
    reportMs: 10_000,
    cyclesPerReport: 10,
    settings: { ...DEFAULT_REBALANCE_SETTINGS },
  });
  await calm.time.runFor(30_000);
  const revision = calm.leader.ledger.state.meta.assignmentRevision;
  for (let cycle = 0; cycle < 10_000; cycle += 100) {
    home(calm).demand = (cycle / 100) % 21;
    await calm.time.runFor(100_000);
  }
  assert.deepEqual(calm.moves, []);
  assert.ok(calm.counts.passes >= 190, `only ${calm.counts.passes} passes`);
  assert.deepEqual(calm.leader.ledger.state.transfers(), []);
  assert.equal(calm.leader.ledger.state.meta.assignmentRevision, revision);
  await calm.stop();
});

test('demand that stays: what moved stays, and nothing moves again', async () => {
  const calm = await fleet();
  await calm.time.runFor(60_000);
  other(calm).demand = 5;
  home(calm).demand = 10;
  await calm.time.runFor(600_000);
  assert.deepEqual(calm.moves, ['1 emitted', '1 accepted', '1 committed']);
  await calm.stop();
});

test('an interval of zero is off', async () => {
  const calm = await fleet({ intervalMs: 0 });
  other(calm).demand = 5;
  await calm.time.runFor(600_000);
  assert.equal(calm.counts.passes, 0);
  assert.deepEqual(calm.moves, []);
  await calm.stop();
});

test('a dry run decides and emits nothing', async () => {
  const calm = await fleet({ isDryRun: true });
  other(calm).demand = 5;
  await calm.time.runFor(120_000);
  const { lastPlan } = calm.leader.rebalancing.rebalancer;
  assert.ok(calm.counts.passes > 5);
  assert.equal(lastPlan?.moves[0]?.reason, 'idle_supply');
  assert.deepEqual(calm.moves, []);
  assert.deepEqual(calm.leader.ledger.state.transfers(), []);
  await calm.stop();
});

test('no pass in the first 30 s of a leadership', async () => {
  const calm = await fleet();
  other(calm).demand = 5;
  await calm.time.runFor(29_900);
  assert.equal(calm.counts.passes, 0);
  await calm.time.runFor(200);
  assert.equal(calm.counts.passes, 1);
  await calm.stop();
});

test('a pass whose leadership is gone emits nothing', async () => {
  const calm = await fleet();
  other(calm).demand = 5;
  await calm.time.runFor(29_900);
  const { disk } = calm.leader.store;
  if (disk.leader !== undefined) disk.lead({ ...disk.leader, depose: () => {} });
  disk.depose();
  await calm.time.runFor(10_000);
  assert.ok(calm.counts.passes > 0);
  assert.deepEqual(calm.moves, []);
  assert.equal(disk.rows().filter(({ table }) => table === 'transfers').length, 0);
  await calm.stop();
});

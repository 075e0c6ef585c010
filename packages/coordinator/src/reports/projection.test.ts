// Proves what readers see of the soft state: never requirements, nothing before the first report, ages
// by the monotonic clock.

import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import { lastHeartbeatUnixNs, reportSnapshots } from './projection.ts';
import { ReportWorld, makeReport } from '../desk/testing/report-world.ts';
import { isFresh, pictureOf } from './soft-state.ts';

it('shows shortfalls without their requirements, and leaves the picture whole', async () => {
  const world = await ReportWorld.open();
  const shortfall = { priority: 9, requirements: [{ key: 'k', operator: 1 as const }] };
  await world.report('b', { cycle: 3n, shortfalls: [shortfall] });
  await world.report('a', {});
  const { soft } = world.desk;
  const all = reportSnapshots(soft, '');
  assert.deepEqual(
    all.map(({ shardId }) => shardId),
    ['a', 'b'],
  );
  const [b] = reportSnapshots(soft, 'b');
  assert.deepEqual(
    [b?.cycle, b?.shortfalls[0]?.priority, b?.shortfalls[0]?.requirements],
    [3n, 9, []],
  );
  assert.equal(soft.picture('b')?.shortfalls[0]?.requirements.length, 1);
  assert.deepEqual(reportSnapshots(soft, 'nobody'), []);
});

it('knows no heartbeat before the first report, and ages that a wall-clock jump does not move', async () => {
  const world = await ReportWorld.open();
  await world.report('a', {});
  const { desk, time } = world;
  await time.runFor(5_000);
  time.wallJump(3_600_000);
  const ageMs = desk.soft.silentForMs('a', time.nowMs);
  assert.ok(ageMs >= 5_000 && ageMs < 5_100);
  assert.equal(lastHeartbeatUnixNs(desk.soft, 'nobody'), 0n);
  assert.ok(lastHeartbeatUnixNs(desk.soft, 'a') > 0n);
  await world.elect();
  assert.equal(lastHeartbeatUnixNs(world.desk.soft, 'a'), 0n);
});

const MINUTE_MS = 60_000;

function afterSilence(gapMs: number): ReturnType<typeof pictureOf> {
  const at = (ms: number) => ({ monotonicMs: () => ms, unixNanos: () => 0n });
  const report = makeReport({ shardId: 'shard-a', shardEpoch: 1n, cycle: 1n });
  return pictureOf(report, pictureOf(report, undefined, at(0)), at(gapMs));
}

const CASES: readonly (readonly [gapMs: number, intervalMs: number, freshForMs: number])[] = [
  [500, 500, 30_000],
  [10_000, 10_000, 30_000],
  [20_000, 20_000, MINUTE_MS],
  [MINUTE_MS, MINUTE_MS, 3 * MINUTE_MS],
  [60 * MINUTE_MS, MINUTE_MS, 3 * MINUTE_MS],
];

for (const [gapMs, intervalMs, freshForMs] of CASES) {
  test(`a gap of ${gapMs} ms: fresh for ${freshForMs} ms`, () => {
    const picture = afterSilence(gapMs);
    assert.equal(picture.intervalMs, intervalMs);
    assert.equal(isFresh(picture, gapMs + freshForMs - 1), true);
    assert.equal(isFresh(picture, gapMs + freshForMs), false);
  });
}

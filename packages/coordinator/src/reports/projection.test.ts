// Proves what readers see of the soft state: never requirements, nothing before the first report, ages
// by the monotonic clock.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { heartbeatAges, lastHeartbeatUnixNs, reportSnapshots } from './projection.ts';
import { ReportWorld } from './testing/report-world.ts';

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
  const { ledger, desk, time } = world;
  await time.runFor(5_000);
  time.wallJump(3_600_000);
  const ages = heartbeatAges(ledger.state, desk.soft, time.nowMs);
  assert.ok((ages.get('a') ?? 0) >= 5_000 && (ages.get('a') ?? 0) < 5_100);
  assert.equal(lastHeartbeatUnixNs(desk.soft, 'nobody'), 0n);
  assert.ok(lastHeartbeatUnixNs(desk.soft, 'a') > 0n);
  await world.elect();
  assert.equal(heartbeatAges(world.ledger.state, world.desk.soft, time.nowMs).size, 0);
  assert.equal(lastHeartbeatUnixNs(world.desk.soft, 'a'), 0n);
});

// Proves on real processes that a shard that is short gets what another has: idle machines, then
// unused quota (how soon, ../ownership/relief.test.ts proves under virtual time); that nothing moves while nothing is short;
// that kills of donor, recipient and coordinator in the middle of a transfer lose nothing; and that
// the provider is never asked about one machine by two shards.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { TransferRecordPhase } from '@bigfleet/wire';
import { monotonicMs } from '../toolkit/index.ts';
import { killInTransfer } from './world/kill-in-transfer.ts';
import { findFleetHost, NO_FLEET_HOST } from './world/fleet-host.ts';
import { CLOUD_TYPE } from './world/park.ts';
import { REGION, RebalanceWorld, SHARED } from './world/rebalance-world.ts';
import { want } from './world/workload.ts';

const CYCLES = 6;
const MOVED = 2;

test('two shards behind one provider', async (t) => {
  const host = await findFleetHost();
  if (host === undefined) return t.skip(NO_FLEET_HOST);
  await using world = await RebalanceWorld.start(host);
  await t.test('nothing moves while nothing is short', () => nothingMoves(world));
  await t.test('idle machines relieve a shortage', (each) => idleMachines(world, each));
  await t.test('unused quota relieves a shard at its limit', (each) => unusedQuota(world, each));
  for (const [at, victim] of (['right', 'left', 'coordinator'] as const).entries()) {
    await t.test(`SIGKILL of ${victim} in the middle of a transfer`, async () => {
      await killInTransfer(world, { victim, instanceType: `metal-${at + 2}`, to: 'left' });
      await world.assertOneOwner();
    });
  }
});

async function nothingMoves(world: RebalanceWorld): Promise<void> {
  want(world.clusters.right.cluster, { instanceType: 'metal-0', podCount: 2 });
  const passes = (): Promise<number> =>
    world.metric('coordinator', 'bigfleet_coordinator_rebalance_passes_total');
  await world.until('a pass', async () => (await passes()) >= 1);
  assert.equal(world.configured('right', 'metal-0').length, 2);
  assert.deepEqual(await world.transfers(), []);
}

async function idleMachines(world: RebalanceWorld, t: TestContext): Promise<void> {
  const cycles = (): Promise<number> => world.metric('left', 'bigfleet_shard_cycles_total ');
  const shortfalls = (): Promise<number> => world.metric('left', 'bigfleet_shard_shortfalls ');
  want(world.clusters.left.cluster, { instanceType: 'metal-1', podCount: MOVED });
  await world.until('left is short', async () => (await shortfalls()) === 1);
  const shortAtMs = monotonicMs();
  const firstCycle = await cycles();
  const agedAtMs = await world.until('the shortage ages', async () =>
    (await cycles()) >= firstCycle + CYCLES ? monotonicMs() : undefined,
  );
  const relievedAtMs = await world.until('left is relieved', async () =>
    (await shortfalls()) === 0 ? monotonicMs() : undefined,
  );
  t.diagnostic(
    `${CYCLES} cycles after ${Math.round(agedAtMs - shortAtMs)} ms, ` +
      `relieved ${Math.round(relievedAtMs - agedAtMs)} ms later`,
  );
  await world.until('the machines serve', () => serves(world, 'metal-1', MOVED));
  const [moved, ...others] = await world.transfers();
  assert.deepEqual(others, []);
  assert.equal(moved?.tier, 1);
  assert.deepEqual(moved.machineIds.toSorted(), world.configured('left', 'metal-1').toSorted());
  await world.until('the transfer is done', async () =>
    (await world.transfers()).every(({ phase }) => phase === TransferRecordPhase.DONE),
  );
  await world.assertOneOwner();
}

async function unusedQuota(world: RebalanceWorld, t: TestContext): Promise<void> {
  const { providers } = await world.coordinator.listProviders({});
  assert.deepEqual(providers, []);
  const address = (await world.transfers())[0]?.providerAddress ?? '';
  // Machines of bare metal are held too, and a report does not tell them from bought ones.
  const declaredQuota = 100;
  await world.admin.registerProvider({
    provider: { name: SHARED, address, region: REGION, declaredQuota },
  });
  const [left, right] = [world.shardId('left'), world.shardId('right')];
  const perShard = { [left]: 1, [right]: declaredQuota - 1 };
  await world.admin.setQuota({ provider: SHARED, region: REGION, perShard });
  const reports = (): Promise<number> =>
    world.metric('left', 'bigfleet_shard_coordinator_report_total{outcome="success"}');
  const before = await reports();
  // A report that was under way answers with the slices of before.
  await world.until('left knows its slice', async () => (await reports()) >= before + 2);
  const startMs = monotonicMs();
  want(world.clusters.left.cluster, { instanceType: CLOUD_TYPE, podCount: 3 });
  await world.until('quota came over', () => serves(world, CLOUD_TYPE, 3));
  t.diagnostic(`relieved after ${Math.round(monotonicMs() - startMs)} ms`);
  const { allocations } = await world.coordinator.listQuotas({});
  const slices = allocations[0]?.perShard ?? {};
  assert.ok((slices[left] ?? 0) >= 3, JSON.stringify(slices));
  assert.equal((slices[left] ?? 0) + (slices[right] ?? 0), declaredQuota);
  assert.equal(
    (await world.transfers()).filter(({ tier }) => tier === 2).length,
    1,
    'one move of quota',
  );
}

function serves(world: RebalanceWorld, instanceType: string, count: number): boolean {
  return world.configured('left', instanceType).length === count;
}

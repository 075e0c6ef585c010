// Proves over 50 SIGKILLs of donor, recipient and coordinator in the middle of transfers, or as many
// as BIGFLEET_LONG_MS allows, that every shortage is relieved, every transfer is finished, and no
// machine is ever acted on by two shards.

import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { TransferRecordPhase } from '@bigfleet/wire';
import { monotonicMs } from '../toolkit/index.ts';
import { findFleetHost, NO_FLEET_HOST } from './world/fleet-host.ts';
import { killInTransfer } from './world/kill-in-transfer.ts';
import { METAL_COUNT, METAL_TYPES } from './world/park.ts';
import { RebalanceWorld, type Side, type Victim } from './world/rebalance-world.ts';
import { want } from './world/workload.ts';

const KILLS = 50;
const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 180_000);
const SEED: string = process.env['BIGFLEET_SEED'] ?? 'kills';
const VICTIMS: readonly Victim[] = ['left', 'right', 'coordinator'];
const TAKEN = 2;
/** Left keeps this one: a donor never gives its last idle machine. */
const KEPT = METAL_TYPES.at(-1) ?? '';
const MOVED = METAL_TYPES.slice(0, -1);
const PHASES = [TransferRecordPhase.PREPARING, TransferRecordPhase.COMMITTED];

test(`${KILLS} kills in the middle of transfers`, async (t) => {
  const host = await findFleetHost();
  if (host === undefined) return t.skip(NO_FLEET_HOST);
  const random = createRandom(SEED);
  const endMs = monotonicMs() + BOX_MS;
  await using world = await RebalanceWorld.start(host);
  await relieve(world, 'left', KEPT);
  let killed = 0;
  // The first one also where the world took the whole box to begin.
  for (; killed === 0 || (killed < KILLS && monotonicMs() < endMs); killed++) {
    const instanceType = MOVED[killed % MOVED.length] ?? '';
    const isBack = Math.floor(killed / MOVED.length) % 2 === 1;
    const to: Side = isBack ? 'right' : 'left';
    // Right starts with all: it must want all again to lack what it gave.
    const podCount = isBack ? METAL_COUNT : TAKEN;
    const victim = VICTIMS[random.below(VICTIMS.length)] ?? 'left';
    const phase = PHASES[random.below(PHASES.length)] ?? TransferRecordPhase.PREPARING;
    t.diagnostic(`${killed}: ${victim} at phase ${phase}, ${instanceType} to ${to}`);
    await killInTransfer(world, { victim, phase, instanceType, to, podCount });
    await world.assertOneOwner();
    await release(world, to, instanceType);
  }
  t.diagnostic(`${killed} kills, seed ${SEED}`);
});

/** Gets what it lacks from the other shard, and has it idle then. */
async function relieve(world: RebalanceWorld, side: Side, instanceType: string): Promise<void> {
  want(world.clusters[side].cluster, { instanceType, podCount: TAKEN });
  await world.until(
    `${instanceType} serves ${side}`,
    () => world.configured(side, instanceType).length === TAKEN,
  );
  await release(world, side, instanceType);
}

async function release(world: RebalanceWorld, side: Side, instanceType: string): Promise<void> {
  want(world.clusters[side].cluster, { instanceType, podCount: 0 });
  await world.until(
    `${instanceType} is idle again`,
    () => world.configured(side, instanceType).length === 0,
  );
}

// Proves on real processes that old, dear demand gets machines of another shard that serve work of
// lower priority there: drained by their owner first, then moved as idle ones, never taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransferRecordPhase } from '@bigfleet/wire';
import { monotonicMs } from '../toolkit/index.ts';
import { findFleetHost, NO_FLEET_HOST } from './world/fleet-host.ts';
import { METAL_COUNT } from './world/park.ts';
import { RebalanceWorld } from './world/rebalance-world.ts';
import { want } from './world/workload.ts';

const instanceType = 'metal-5';

test('running work of lower priority makes room across shards', async (t) => {
  const host = await findFleetHost();
  if (host === undefined) return t.skip(NO_FLEET_HOST);
  await using world = await RebalanceWorld.start(host);
  const { left, right } = world.clusters;
  want(right.cluster, { instanceType, podCount: METAL_COUNT, priority: 100 });
  await world.until(
    'right uses all of them',
    () => world.configured('right', instanceType).length === METAL_COUNT,
  );
  const startMs = monotonicMs();
  want(left.cluster, { instanceType, podCount: 1, interruptionPenalty: 1_024 });
  // The first pass, a refusal and its rest, two passes without anything, the drain, the move.
  await world.until('left is relieved', () => world.configured('left', instanceType).length === 1);
  t.diagnostic(`relieved after ${Math.round(monotonicMs() - startMs)} ms`);
  const [drained, ...others] = right.cluster.drained;
  assert.deepEqual(others, [], 'one machine was asked for');
  assert.deepEqual(world.configured('left', instanceType), [drained]);
  const moved = (await world.transfers()).filter(
    ({ phase }) => phase !== TransferRecordPhase.ABORTED,
  );
  assert.deepEqual(
    moved.map(({ machineIds }) => machineIds),
    [[drained]],
  );
  await world.assertOneOwner();
});

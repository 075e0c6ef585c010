// Proves that right after an election "not heard" is not "dead": for a minute a registered shard that
// the new leader has not heard is removed by force only; after that, or once heard, the rules of its
// own reports hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcError } from '@bigfleet/wire';
import { CoordinatorStage, type StagedReplica } from '../process/testing/coordinator-stage.ts';

const report = { shardId: 'shard-a', shardEpoch: 1n, cycle: 1n };

/** A leader of this moment, in a fleet whose one shard reported to its predecessor. */
async function elected(): Promise<{ stage: CoordinatorStage; leader: StagedReplica }> {
  const stage = new CoordinatorStage();
  const first = await stage.start('node-0');
  await stage.run(stage.coordinator(first).reportShard(report));
  const leader = await stage.start('node-1');
  const stopping = first.replica.stop();
  await stage.time.runFor(100);
  await stopping;
  assert.ok(leader.replica.leading() !== undefined);
  return { stage, leader };
}

interface Case {
  readonly name: string;
  readonly afterMs: number;
  readonly isHeard?: boolean;
  readonly force?: boolean;
  readonly code: string;
}

const CASES: readonly Case[] = [
  { name: 'not heard, leader of a moment', afterMs: 0, code: 'ABORTED' },
  { name: 'not heard, leader of 59 s', afterMs: 58_500, code: 'ABORTED' },
  { name: 'not heard, leader of a minute', afterMs: 60_000, code: 'OK' },
  { name: 'not heard, by force', afterMs: 0, force: true, code: 'OK' },
  { name: 'heard, sharing nothing', afterMs: 0, isHeard: true, code: 'OK' },
];

for (const { name, afterMs, isHeard = false, force = false, code } of CASES) {
  test(`${name}: ${code}`, async () => {
    const { stage, leader } = await elected();
    const coordinator = stage.coordinator(leader);
    await stage.time.runFor(afterMs);
    if (isHeard) await stage.run(coordinator.reportShard({ ...report, cycle: 2n }));
    const removal = stage.run(coordinator.removeShard({ shardId: 'shard-a', force }));
    const got = await removal.then(
      () => 'OK',
      (error: unknown) => (error instanceof RpcError ? error.code : String(error)),
    );
    assert.equal(got, code);
    const { shards } = await stage.run(coordinator.listShards({}));
    assert.equal(shards.length, code === 'OK' ? 0 : 1);
  });
}

test('a shard that nobody registered is not found, whatever the age of the leader', async () => {
  const { stage, leader } = await elected();
  const removal = stage.run(stage.coordinator(leader).removeShard({ shardId: 'shard-x' }));
  await assert.rejects(removal, /shard not found/);
});

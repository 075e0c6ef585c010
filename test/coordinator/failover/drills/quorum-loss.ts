// Two of three etcd members die and come back later, with the history compacted under every watch:
// no coordinator leads meanwhile and each says so, all of them live, no shard stands still, and
// afterwards everything goes on by itself.

import assert from 'node:assert/strict';
import { RpcError } from '@bigfleet/wire';
import { gateway, outsiderGet } from '../../../etcd/gateway.ts';
import { eventually, HANG_MS, monotonicMs, sleep, withDeadline } from '../../../toolkit/index.ts';
import type { CoordinatorProcess } from '../coordinator-process.ts';
import { noteGoal, type Notes } from '../repeated.ts';
import type { FailoverStage } from '../stage.ts';

/** Of the changes of demand, each of which asks for a cycle: how many had none. */
const GOAL_MISSED_SHARE = 0.1;

export interface QuorumLossSample {
  readonly lostForMs: number;
  readonly healedAfterMs: number;
  readonly cycleCounts: readonly number[];
  readonly changeCounts: readonly number[];
}

export async function loseQuorum(stage: FailoverStage, holdMs: number): Promise<QuorumLossSample> {
  await compact(stage);
  const [, one, two] = stage.etcd.members;
  assert.ok(one !== undefined && two !== undefined);
  const lostAtMs = monotonicMs();
  await Promise.all([one.kill(), two.kill()]);
  stage.beginWindow();
  await Promise.all(stage.replicas.map((replica) => untilRefuses(replica)));
  await sleep(Math.max(0, holdMs - (monotonicMs() - lostAtMs)));
  const windows = stage.watches.map((watch) => watch.window());
  stage.assertShardsUnaffected();
  await stage.untilShardsCycle();
  for (const replica of stage.replicas) await assertRefuses(replica);
  const lostForMs = Math.round(monotonicMs() - lostAtMs);
  const healingAtMs = monotonicMs();
  await Promise.all([one.restart(), two.restart()]);
  await untilServing(stage);
  const healedAfterMs = Math.round(monotonicMs() - healingAtMs);
  return {
    lostForMs,
    healedAfterMs,
    cycleCounts: windows.map(({ cycleCount }) => cycleCount),
    changeCounts: windows.map(({ changeCount }) => changeCount),
  };
}

/** How far the shards kept their full rate during the outage. */
export function noteRate(notes: Notes, samples: readonly QuorumLossSample[]): void {
  const measured = samples.flatMap(({ cycleCounts, changeCounts }) =>
    changeCounts.map((changes, at) => 1 - (cycleCounts[at] ?? 0) / Math.max(1, changes)),
  );
  const what = 'share of changes of demand without a cycle of their own';
  noteGoal(notes, { what, measured, atMost: GOAL_MISSED_SHARE });
}

/** Everything before now is forgotten: a watch that resumes after the outage asks for what is gone. */
async function compact(stage: FailoverStage): Promise<void> {
  const { endpoint } = stage.etcd.member(0);
  const newest = await outsiderGet(endpoint, '/bigfleet/meta/apply');
  assert.ok(newest !== undefined);
  await gateway(endpoint, 'kv/compaction', {
    revision: String(newest.modRevision),
    physical: true,
  });
}

/** A leader finds out by its lease or by a refused read; a follower by looking. */
async function untilRefuses(replica: CoordinatorProcess): Promise<void> {
  const refuses = async (): Promise<true> => {
    await assertRefuses(replica);
    return true;
  };
  await eventually(refuses, { what: `${replica.nodeId} refuses`, everyMs: 250 });
}

/** Not leading, not ready, alive, and it says why. */
async function assertRefuses(replica: CoordinatorProcess): Promise<void> {
  const { admin, nodeId } = replica;
  const binding = { clusterId: 'quorum', shardId: 'value-0', force: true };
  await assert.rejects(
    withDeadline(`${nodeId} answers`, HANG_MS, (signal) => admin.bindCluster(binding, { signal })),
    (error) =>
      error instanceof RpcError &&
      /^(?:FAILED_PRECONDITION|UNAVAILABLE)$/.test(error.code) &&
      error.message.startsWith('coordinator: '),
  );
  const ready = await replica.probe('readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body, /no raft leader observed/);
  assert.equal((await replica.probe('healthz')).status, 200);
}

async function untilServing(stage: FailoverStage): Promise<void> {
  await using load = stage.startLoad('healed');
  await load.servedAfter(monotonicMs(), '');
  await load.finish();
  for (const replica of stage.replicas) await replica.waitReady();
  await stage.untilReportsAnswered();
}

// SIGKILL of the leader, again and again: how long until another serves a write, and whether
// anything went wrong meanwhile.

import assert from 'node:assert/strict';
import { monotonicMs } from '../../../toolkit/index.ts';
import type { CoordinatorProcess } from '../coordinator-process.ts';
import { noteGoal, type Notes } from '../repeated.ts';
import type { FailoverStage } from '../stage.ts';

/** Of all but one in a hundred kills (coordinator §11.1). */
const GOAL_GAP_MS = 1_500;
const REVOCATIONS = 'bigfleet_coordinator_lease_revocations_total';

export interface KillSample {
  readonly killed: string;
  readonly gapMs: number;
  readonly term: number;
  /** By a follower that saw it dead: nobody waited for the end of its lease. */
  readonly wasRevoked: boolean;
  readonly heardCount: number;
  readonly unheardCount: number;
}

/** Kills the leader once and brings it back; every law is checked but how long the gap was. */
export async function killLeader(stage: FailoverStage): Promise<KillSample> {
  const before = await stage.leader();
  const { nodeId } = before.replica;
  await using load = stage.startLoad('kill');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  const survivors = stage.replicas.filter((replica) => replica !== before.replica);
  const revokedBefore = await revocationCount(survivors);
  const killedAtMs = monotonicMs();
  before.replica.process.signal('SIGKILL');
  const served = await load.servedAfter(killedAtMs, nodeId);
  const wasRevoked = (await revocationCount(survivors)) > revokedBefore;
  await before.replica.waitExit();
  await before.replica.start();
  await before.replica.waitReady();
  const heard = await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  stage.assertElected(before, after, served.nodeId);
  const gapMs = Math.round(served.returnedAtMs - killedAtMs);
  return { killed: nodeId, gapMs, term: Number(after.term), wasRevoked, ...heard };
}

async function revocationCount(replicas: readonly CoordinatorProcess[]): Promise<number> {
  const counts = await Promise.all(replicas.map((replica) => replica.metric(REVOCATIONS)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * A follower that sees the dead leader does not wait for its lease. Of several kills: a machine that
 * answers no dial in time hides one that is dead.
 */
export function assertSeenDead(samples: readonly KillSample[]): void {
  assert.ok(
    samples.some(({ wasRevoked }) => wasRevoked),
    'every kill waited for the end of a lease',
  );
}

export function noteKillGaps(notes: Notes, samples: readonly KillSample[]): void {
  const measured = samples.map(({ gapMs }) => gapMs);
  noteGoal(notes, { what: 'gap after SIGKILL in ms', measured, atMost: GOAL_GAP_MS });
}

// A leader that lives on and does not know that it is none: frozen beyond its lease and woken again,
// or cut from etcd while clients still reach it. It is replaced, and from then on nothing that it says
// counts: a write and a read that only it can answer are refused.

import assert from 'node:assert/strict';
import { RpcError } from '@bigfleet/wire';
import { HANG_MS, monotonicMs, sleep, withDeadline } from '../../../toolkit/index.ts';
import type { CoordinatorProcess, Leader } from '../coordinator-process.ts';
import { noteGoal, type Notes } from '../repeated.ts';
import { ETCD_NETWORK } from '../replica-plan.ts';
import type { FailoverStage } from '../stage.ts';

/** Beyond the time of a lease (coordinator §11.1). */
const GOAL_BEYOND_LEASE_MS = 1_000;
/** How long its answers stay on record after it is back. */
const ZOMBIE_WATCHED_MS = 1_000;

export interface ZombieSample {
  readonly zombie: string;
  readonly leaseTtlMs: number;
  readonly gapMs: number;
  readonly term: number;
  readonly heardCount: number;
  readonly unheardCount: number;
}

/** The calls wait in the frozen process's sockets, so that nobody but the zombie answers them. */
export async function freezeLeader(stage: FailoverStage): Promise<ZombieSample> {
  const before = await stage.leader();
  const zombie = before.replica;
  let refusals: Promise<string[]> = Promise.resolve([]);
  return replaced(stage, before, {
    disturb: async () => {
      await zombie.process.pause();
      refusals = answersOf(zombie);
      refusals.catch(() => {}); // awaited below; the drill may fail earlier
    },
    afterwards: async () => {
      await zombie.process.resume();
      assertRefused(await refusals);
    },
  });
}

export async function cutLeaderFromEtcd(stage: FailoverStage): Promise<ZombieSample> {
  const before = await stage.leader();
  const zombie = before.replica;
  return replaced(stage, before, {
    disturb: () => stage.partitions.isolate(zombie.nodeId, ETCD_NETWORK),
    afterwards: async () => {
      assertRefused(await answersOf(zombie));
      await stage.partitions.rejoin(zombie.nodeId, ETCD_NETWORK);
    },
  });
}

interface Disturbance {
  readonly disturb: () => Promise<void>;
  readonly afterwards: () => Promise<void>;
}

async function replaced(
  stage: FailoverStage,
  before: Leader,
  { disturb, afterwards }: Disturbance,
): Promise<ZombieSample> {
  const { nodeId } = before.replica;
  await using load = stage.startLoad('zombie');
  await load.servedAfter(monotonicMs(), '');
  stage.beginWindow();
  const sinceMs = monotonicMs();
  await disturb();
  const served = await load.servedAfter(sinceMs, nodeId);
  await afterwards();
  await before.replica.waitReady();
  await sleep(ZOMBIE_WATCHED_MS);
  const heard = await load.finish();
  stage.assertShardsUnaffected();
  const after = await stage.leader();
  stage.assertElected(before, after, served.nodeId);
  const gapMs = Math.round(served.returnedAtMs - sinceMs);
  const { leaseTtlMs } = stage;
  return { zombie: nodeId, leaseTtlMs, gapMs, term: Number(after.term), ...heard };
}

export function noteZombieGaps(notes: Notes, samples: readonly ZombieSample[]): void {
  const measured = samples.map(({ gapMs, leaseTtlMs }) => gapMs - leaseTtlMs);
  const what = 'gap of a zombie beyond its lease in ms';
  noteGoal(notes, { what, measured, atMost: GOAL_BEYOND_LEASE_MS });
}

/** A write and a read, each as `OK` or the code of its refusal. */
function answersOf({ admin }: CoordinatorProcess): Promise<string[]> {
  const call = async (work: (signal: AbortSignal) => Promise<unknown>): Promise<string> => {
    try {
      await withDeadline("the zombie's answer", HANG_MS, work);
      return 'OK';
    } catch (error) {
      if (error instanceof RpcError) return error.code;
      throw error;
    }
  };
  const binding = { clusterId: 'zombie', shardId: 'value-0', force: true };
  return Promise.all([
    call((signal) => admin.bindCluster(binding, { signal })),
    call((signal) => admin.listClusterBindings({}, { signal })),
  ]);
}

function assertRefused(codes: readonly string[]): void {
  for (const code of codes) assert.match(code, /^(?:FAILED_PRECONDITION|UNAVAILABLE)$/);
}

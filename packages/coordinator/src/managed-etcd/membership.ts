// The two membership loops of managed mode (coordinator §3.6), both every 2 s. The leader promotes
// learners that have caught up, and drops those that never will. Every replica, on every start, asks
// to be joined until it is a voter at its current address *and* a leader answers through its own
// member: its own data alone may be stale. It asks only the cluster that its data is of: a foreign
// one may have a member of the same name, and would move that one's address here.

import { BigFleetError, type Runtime, runWithDeadline, sleep, type Clock } from '@bigfleet/base';
import type { Member } from '@bigfleet/wire/etcd';
import type { EtcdClient } from '../etcd-client/client.ts';
import type { JoinPort } from './join-client.ts';
import { isStarted } from './join-handler.ts';

const everyMs = 2_000;
const callDeadlineMs = 2_000;
const joinWithinMs = 10_000;
const unstartedForMs = 5 * 60_000;
const absentForMs = 30 * 60_000;

export interface MembershipOptions {
  readonly runtime: Runtime;
  /** Through the local member only. */
  readonly client: Pick<EtcdClient, 'memberList' | 'memberPromote' | 'memberRemove'>;
  readonly onProblem?: (what: string, error: unknown) => void;
}

export interface LearnerCare extends MembershipOptions {
  /** Replicas that are registered now. */
  readonly presentNodeIds: () => Promise<ReadonlySet<string>>;
}

/** Runs while this replica leads; returns when the signal aborts. */
export async function promoteLearners(options: LearnerCare, signal: AbortSignal): Promise<void> {
  const stale = staleLearners(options.runtime.clock);
  await everyRound(options, 'learner promotion', signal, async () => {
    await promoteOnce(options, stale, signal);
    return false;
  });
}

export interface SelfMembership extends MembershipOptions {
  readonly nodeId: string;
  readonly peerUrl: string;
  readonly port: JoinPort;
  /** A linearizable read of the leader key answered, and there is a leader. */
  readonly observesLeader: () => Promise<boolean>;
  /** Of the data beside this replica, without a quorum; empty = it has none yet. */
  readonly ownClusterUid: () => Promise<string>;
}

/** Returns when this replica is a voter at its current address and observes a leader. */
export async function reconcileSelf(options: SelfMembership, signal: AbortSignal): Promise<void> {
  const { runtime, port } = options;
  await everyRound(options, 'membership', signal, async () => {
    if (await isSettled(options, signal)) return true;
    await runWithDeadline(runtime, { ms: joinWithinMs, parent: signal }, async (cut) => {
      refuseOther(await options.ownClusterUid(), await port.clusterUid(cut));
      await port.join(false, cut);
    });
    return false;
  });
}

function refuseOther(own: string, theirs: string | undefined): void {
  if (own === '' || theirs === undefined || theirs === '' || own === theirs) return;
  const message = `this replica has the data of cluster ${own}, --join-addr is cluster ${theirs}`;
  throw new BigFleetError('etcd_other_cluster', message);
}

async function isSettled(options: SelfMembership, signal: AbortSignal): Promise<boolean> {
  const { client, nodeId, peerUrl, observesLeader } = options;
  const members = await client.memberList({ deadlineMs: callDeadlineMs, signal });
  const self = members.find(({ name }) => name === nodeId);
  if (self === undefined || self.isLearner || !self.peerURLs.includes(peerUrl)) return false;
  return observesLeader();
}

async function promoteOnce(
  { client, presentNodeIds }: LearnerCare,
  stale: StaleLook,
  signal: AbortSignal,
): Promise<void> {
  const limits = { deadlineMs: callDeadlineMs, signal };
  const members = await client.memberList(limits);
  if (members.some(({ isLearner }) => isLearner)) {
    const dropped = stale(members, await presentNodeIds());
    for (const { ID } of dropped) await client.memberRemove(ID, limits);
    if (dropped.length > 0) return;
  }
  for (const member of members.filter((each) => each.isLearner && isStarted(each))) {
    try {
      await client.memberPromote(member.ID, limits);
    } catch (error) {
      // Not caught up yet: the next round asks again.
      if (!(error instanceof BigFleetError && error.code === 'etcd_refused')) throw error;
    }
  }
}

async function everyRound(
  { runtime, onProblem }: MembershipOptions,
  what: string,
  signal: AbortSignal,
  round: () => Promise<boolean>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await round()) return;
    } catch (error) {
      if (signal.aborted) return;
      onProblem?.(what, error);
    }
    await sleep(runtime, everyMs, signal).catch(() => undefined);
  }
}

/**
 * Which learners will never be voters. etcd takes one learner at a time, so one that asked to join
 * and was never seen again would keep every other replica out. Dropping a learner costs no vote.
 * One that never started is given up soon: it asks again with an empty disk. One that started holds
 * data, which its operator must wipe once it is dropped, so it gets the time of a repair.
 */
function staleLearners(clock: Clock): StaleLook {
  /** Since when each learner has been away; as many as the member list has. */
  const awaySinceMs = new Map<bigint, number>();
  return (members, presentNodeIds) => {
    const nowMs = clock.monotonicMs();
    const away = members.filter(
      (member) => member.isLearner && !(isStarted(member) && presentNodeIds.has(member.name)),
    );
    for (const id of awaySinceMs.keys()) {
      if (!away.some(({ ID }) => ID === id)) awaySinceMs.delete(id);
    }
    return away.filter((member) => {
      const sinceMs = awaySinceMs.get(member.ID) ?? nowMs;
      awaySinceMs.set(member.ID, sinceMs);
      return nowMs - sinceMs >= (isStarted(member) ? absentForMs : unstartedForMs);
    });
  };
}

/** Asked every round; a learner that is there, or was promoted, starts anew. */
type StaleLook = (members: readonly Member[], present: ReadonlySet<string>) => readonly Member[];

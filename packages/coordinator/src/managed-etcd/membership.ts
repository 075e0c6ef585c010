// The two membership loops of managed mode (coordinator §3.6), both every 2 s. The leader promotes
// learners that have caught up. Every replica, on every start, asks to be joined until it is a
// voter at its current address *and* a leader answers through its own member: its own data alone
// may be stale.

import { BigFleetError, type Runtime, runWithDeadline, sleep } from '@bigfleet/base';
import type { EtcdClient } from '../etcd-client/index.ts';
import { isStarted } from './join-handler.ts';
import type { JoinPort } from './join-client.ts';

const everyMs = 2_000;
const callDeadlineMs = 2_000;
const joinWithinMs = 10_000;

export interface MembershipOptions {
  readonly runtime: Runtime;
  /** Through the local member only. */
  readonly client: EtcdClient;
  readonly onProblem?: (what: string, error: unknown) => void;
  readonly onPromoted?: (nodeId: string) => void;
}

/** Runs while this replica leads; returns when the signal aborts. */
export async function promoteLearners(
  options: MembershipOptions,
  signal: AbortSignal,
): Promise<void> {
  await everyRound(options, 'learner promotion', signal, async () => {
    await promoteOnce(options, signal);
    return false;
  });
}

export interface SelfMembership extends MembershipOptions {
  readonly nodeId: string;
  readonly peerUrl: string;
  readonly port: JoinPort;
  /** A linearizable read of the leader key answered, and there is a leader. */
  readonly observesLeader: () => Promise<boolean>;
}

/** Returns when this replica is a voter at its current address and observes a leader. */
export async function reconcileSelf(options: SelfMembership, signal: AbortSignal): Promise<void> {
  const { runtime, port } = options;
  await everyRound(options, 'membership', signal, async () => {
    if (await isSettled(options, signal)) return true;
    await runWithDeadline(runtime, { ms: joinWithinMs, parent: signal }, (cut) =>
      port.join(false, cut),
    );
    return false;
  });
}

async function isSettled(options: SelfMembership, signal: AbortSignal): Promise<boolean> {
  const { client, nodeId, peerUrl, observesLeader } = options;
  const members = await client.memberList({ deadlineMs: callDeadlineMs, signal });
  const self = members.find(({ name }) => name === nodeId);
  if (self === undefined || self.isLearner || !self.peerURLs.includes(peerUrl)) return false;
  return observesLeader();
}

async function promoteOnce(
  { client, onPromoted }: MembershipOptions,
  signal: AbortSignal,
): Promise<void> {
  const limits = { deadlineMs: callDeadlineMs, signal };
  const members = await client.memberList(limits);
  for (const member of members.filter((each) => each.isLearner && isStarted(each))) {
    try {
      await client.memberPromote(member.ID, limits);
      onPromoted?.(member.name);
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

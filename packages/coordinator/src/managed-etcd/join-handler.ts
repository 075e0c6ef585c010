// The leader's side of `JoinRaftCluster` (coordinator §3.6): brings the member list to what the
// joining replica needs. Every case may be asked again. A member that lost its data never comes
// back under its old member id (it would have forgotten its votes): it is removed and added anew,
// and only if the rest can do without it. A stranger that brings data brings another cluster's.

import type { Member } from '@bigfleet/wire/etcd';
import type { CallLimits } from '../etcd-client/caller.ts';
import type { EtcdClient } from '../etcd-client/client.ts';

export interface JoinRequest {
  readonly nodeId: string;
  readonly peerUrl: string;
  /** The joiner's data directory is empty. */
  readonly isFresh: boolean;
}

export type JoinResult =
  | { readonly kind: 'member'; readonly initialCluster: string; readonly memberId: bigint }
  /** FAILED_PRECONDITION: it would cost the majority, or brings the data of another cluster. */
  | { readonly kind: 'refused'; readonly message: string };

export interface JoinContext {
  readonly client: Pick<
    EtcdClient,
    'memberList' | 'memberAddLearner' | 'memberUpdate' | 'memberRemove'
  >;
  /** Replicas that are there now, by their registration (`status().replicas`). */
  readonly presentNodeIds: ReadonlySet<string>;
  readonly limits: CallLimits;
}

export async function handleJoin(context: JoinContext, request: JoinRequest): Promise<JoinResult> {
  const { client, limits } = context;
  const members = await client.memberList(limits);
  const known = memberOf(members, request);
  if (known === undefined) {
    return request.isFresh ? addLearner(context, request) : stranger(request);
  }
  if (isStarted(known) && request.isFresh) return replace(context, request, members, known);
  if (!known.peerURLs.includes(request.peerUrl)) {
    await client.memberUpdate(known.ID, request.peerUrl, limits);
  }
  return answer(await client.memberList(limits), request, known.ID);
}

/** By name; a member that never started has none yet and is known by its peer URL. */
function memberOf(members: readonly Member[], request: JoinRequest): Member | undefined {
  return (
    members.find(({ name }) => name === request.nodeId) ??
    members.find((member) => !isStarted(member) && member.peerURLs.includes(request.peerUrl))
  );
}

/** Added with its data it would be fatal to its own etcd, and its id a hole in our member list. */
function stranger({ nodeId }: JoinRequest): JoinResult {
  const message =
    `${nodeId} is no member of this cluster and its data directory is not empty: it belongs to ` +
    'another cluster, or was removed from this one; start it with an empty one';
  return { kind: 'refused', message };
}

async function replace(
  context: JoinContext,
  request: JoinRequest,
  members: readonly Member[],
  old: Member,
): Promise<JoinResult> {
  const others = members.filter((member) => member.ID !== old.ID && !member.isLearner);
  const healthyCount = others.filter(({ name }) => context.presentNodeIds.has(name)).length;
  const majority = Math.floor(others.length / 2) + 1;
  if (!old.isLearner && healthyCount < majority) {
    const message =
      `replacing ${request.nodeId} would leave ${healthyCount} healthy of ${others.length} ` +
      `voting members, and ${majority} are needed`;
    return { kind: 'refused', message };
  }
  await context.client.memberRemove(old.ID, context.limits);
  return addLearner(context, request);
}

async function addLearner(
  { client, limits }: JoinContext,
  request: JoinRequest,
): Promise<JoinResult> {
  const added = await client.memberAddLearner(request.peerUrl, limits);
  return answer(await client.memberList(limits), request, added?.ID ?? 0n);
}

/** Names every member: etcd refuses a joiner whose list differs from the cluster's. */
function answer(members: readonly Member[], request: JoinRequest, memberId: bigint): JoinResult {
  const entries = members.flatMap((member) => {
    const name = member.ID === memberId ? request.nodeId : nameOf(member);
    return member.peerURLs.map((url) => `${name}=${url}`);
  });
  return { kind: 'member', initialCluster: entries.join(','), memberId };
}

function nameOf(member: Member): string {
  return isStarted(member) ? member.name : `unstarted-${member.ID.toString(16)}`;
}

/** etcd learns a member's name from the member itself. */
export function isStarted({ name }: Member): boolean {
  return name !== '';
}

// JoinRaftCluster: only a managed etcd can be joined through us. The name is the established one;
// the consensus is etcd's.

import { type Coordinator, type Handlers, RpcError } from '@bigfleet/wire';
import { refused, type Refused } from '../ledger/outcome.ts';
import type { JoinAnswer } from '../managed-etcd/join-client.ts';
import { writeAudit } from './admin-handlers.ts';
import type { ServiceParts } from './router.ts';

export type JoinHandler = (request: JoinRequest) => Promise<JoinReply>;

export interface JoinRequest {
  readonly nodeId: string;
  readonly raftAddress: string;
  readonly isFresh: boolean;
  readonly signal: AbortSignal;
}

export type JoinReply = (JoinAnswer & { readonly kind: 'joined' }) | Refused;

/** Of a store that has no members to join, such as `store engine sqlite is single-replica`. */
export function refuseJoin(message: string): JoinHandler {
  return () => Promise.resolve(refused('FAILED_PRECONDITION', `coordinator: ${message}`));
}

export function joinHandlers({
  gate,
  logger,
  join,
}: ServiceParts): Pick<Handlers<typeof Coordinator>, 'joinRaftCluster'> {
  return {
    joinRaftCluster: async ({ nodeId, raftAddress, fresh }, call) => {
      const leader = gate.leading();
      if (nodeId === '' || raftAddress === '') {
        throw new RpcError(
          'INVALID_ARGUMENT',
          'coordinator: node_id and raft_address are required',
        );
      }
      const reply = await join({ nodeId, raftAddress, isFresh: fresh, signal: call.signal });
      writeAudit(logger, {
        call,
        arguments: { node_id: nodeId, raft_address: raftAddress, fresh },
        outcome: reply.kind === 'refused' ? reply : { kind: 'done', index: undefined },
        term: leader.ledger.term,
      });
      if (reply.kind === 'refused') throw new RpcError(reply.status, reply.message);
      await gate.confirm(leader);
      const { clusterUid, initialCluster, memberId } = reply;
      return { clusterUid, initialCluster, memberId };
    },
  };
}

// JoinRaftCluster: only a managed etcd can be joined through us. The name is the established one;
// the consensus is etcd's.

import type { Logger } from '@bigfleet/telemetry';
import { type CallContext, type Coordinator, type Handlers, RpcError } from '@bigfleet/wire';
import type { JoinAnswer } from '../managed-etcd/join-client.ts';
import { writeAudit } from './admin-handlers.ts';
import type { LeaderGate } from './leader-gate.ts';

export type JoinHandler =
  /** FAILED_PRECONDITION with this text, such as `store engine sqlite is single-replica`. */
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'serve'; join(request: JoinRequest): Promise<JoinReply> };

export interface JoinRequest {
  readonly nodeId: string;
  readonly raftAddress: string;
  readonly isFresh: boolean;
  readonly signal: AbortSignal;
}

type JoinReply =
  | (JoinAnswer & { readonly kind: 'joined' })
  | { readonly kind: 'refused'; readonly message: string };

interface JoinHandlersOptions {
  readonly gate: LeaderGate;
  readonly logger: Logger;
  readonly join: JoinHandler;
}

export function joinHandlers(
  options: JoinHandlersOptions,
): Pick<Handlers<typeof Coordinator>, 'joinRaftCluster'> {
  return {
    joinRaftCluster: async ({ nodeId, raftAddress, fresh }, call) => {
      const { gate } = options;
      const leader = gate.leading();
      if (nodeId === '' || raftAddress === '') {
        throw new RpcError(
          'INVALID_ARGUMENT',
          'coordinator: node_id and raft_address are required',
        );
      }
      const request = { nodeId, raftAddress, isFresh: fresh, signal: call.signal };
      const reply = await ask(options.join, request);
      audit(options, call, request, reply, leader.ledger.term);
      if (reply.kind === 'refused') throw new RpcError('FAILED_PRECONDITION', reply.message);
      await gate.confirm(leader);
      const { clusterUid, initialCluster, memberId } = reply;
      return { clusterUid, initialCluster, memberId };
    },
  };
}

function ask(join: JoinHandler, request: JoinRequest): Promise<JoinReply> {
  if (join.kind === 'serve') return join.join(request);
  return Promise.resolve({ kind: 'refused', message: `coordinator: ${join.message}` });
}

function audit(
  { logger }: JoinHandlersOptions,
  call: CallContext,
  { nodeId, raftAddress, isFresh }: JoinRequest,
  reply: JoinReply,
  term: bigint,
): void {
  writeAudit(logger, {
    call,
    arguments: { node_id: nodeId, raft_address: raftAddress, fresh: isFresh },
    outcome:
      reply.kind === 'joined'
        ? { kind: 'done', index: undefined }
        : { kind: 'refused', status: 'FAILED_PRECONDITION', message: reply.message },
    term,
  });
}

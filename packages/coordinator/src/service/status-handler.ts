// GetStatus: what any replica knows about itself and its leader; the one answer that a follower gives.

import type { CoordinatorAdmin, Handlers } from '@bigfleet/wire';
import type { Replica } from '../replica/replica.ts';
import type { StoreEngine } from '../store/store.ts';

export interface StatusOptions {
  readonly replica: Replica;
  readonly engine: StoreEngine;
  readonly nodeId: string;
  readonly version: string;
}

export function statusHandler(
  options: StatusOptions,
): Pick<Handlers<typeof CoordinatorAdmin>, 'getStatus'> {
  const { replica, engine, nodeId, version } = options;
  return {
    getStatus: async () => {
      const { leader: hint, status } = replica.observed();
      const leader = replica.leading();
      const recovering = leader?.desk.recovery.recoveringProviders() ?? new Set<string>();
      return {
        nodeId,
        isLeader: leader !== undefined,
        leaderNodeId: hint?.nodeId ?? '',
        leaderAddress: hint?.grpcAddress ?? '',
        coordinatorTerm: leader?.leadership.term ?? hint?.term ?? 0n,
        storeRaftTerm: status?.storeRaftTerm ?? 0n,
        applyIndex: BigInt(leader?.ledger.state.meta.applyIndex ?? status?.applyIndex ?? 0),
        storeEngine: engine,
        replicas: [...(status?.replicas ?? [])],
        clusterUid: status?.clusterUid ?? '',
        recoveringProviders: recovering === 'all' ? ['*'] : [...recovering].toSorted(),
        version,
      };
    },
  };
}

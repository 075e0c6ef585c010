// GetStatus: what any replica knows about itself and its leader; the one answer that a follower gives.

import type { CoordinatorAdmin, Handlers } from '@bigfleet/wire';
import type { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { waitText } from '../recovery/waits.ts';
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
        recoveringProviders: leader === undefined ? [] : recoveryLines(leader.desk.recovery),
        version,
      };
    },
  };
}

/**
 * One line per provider and per thing that it waits for: `<address>: <what>`. A provider that waits for
 * nothing but time is its bare address, and all of them together are `*`.
 */
function recoveryLines(recovery: RecoveryMachine): string[] {
  const waits = recovery.waits();
  const lines = waits.flatMap(({ wait, addresses }) =>
    addresses.map((address) => `${address}: ${waitText(wait)}`),
  );
  const recovering = recovery.recoveringProviders();
  const named = new Set(waits.flatMap(({ addresses }) => addresses));
  const rest = recovering === 'all' ? ['*'] : [...recovering];
  return [...lines, ...rest.filter((address) => !named.has(address))].toSorted();
}

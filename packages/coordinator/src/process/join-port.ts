// How a joining replica reaches the others: every call dials `--join-addr` afresh, so that a
// headless name is resolved again and attempts spread over the replicas (coordinator §3.6).

import type { Runtime } from '@bigfleet/base';
import {
  type Channel,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
  type TlsMaterial,
} from '@bigfleet/wire';
import type { JoinPort } from '../managed-etcd/join-client.ts';

export interface PeerDialOptions {
  readonly runtime: Runtime;
  readonly tls: TlsMaterial | undefined;
}

/** A peer is a coordinator: it presents the admin identity (security §3.2). */
export function dialPeer({ runtime, tls }: PeerDialOptions, target: string): Channel {
  return createGrpcChannel({
    runtime,
    target,
    ...(tls === undefined ? {} : { tls, serverIdentity: { kind: 'admin' } as const }),
    keepalive: { timeMs: 1_000, timeoutMs: 1_000 },
  });
}

export interface JoinPortOptions extends PeerDialOptions {
  readonly joinAddress: string;
  readonly nodeId: string;
  readonly raftAddress: string;
}

export function joinPort(options: JoinPortOptions): JoinPort {
  const { joinAddress, nodeId, raftAddress } = options;
  const once = async <T>(call: (channel: Channel) => Promise<T>): Promise<T> => {
    const channel = dialPeer(options, joinAddress);
    try {
      return await call(channel);
    } finally {
      channel.close();
    }
  };
  return {
    join: (isFresh, signal) =>
      once((channel) =>
        createClient(Coordinator, channel).joinRaftCluster(
          { nodeId, raftAddress, fresh: isFresh },
          { signal },
        ),
      ),
    clusterUid: (signal) =>
      once(async (channel) => {
        const status = await createClient(CoordinatorAdmin, channel).getStatus({}, { signal });
        return status.clusterUid === '' ? undefined : status.clusterUid;
      }),
  };
}

// The etcd engine of this process, whoever runs the etcd.

import { describeThrown } from '@bigfleet/base';
import type { EtcdClient } from '../etcd-client/index.ts';
import { EtcdStore } from '../store/etcd/etcd-store.ts';
import { restoreFileOf } from '../store/etcd/restore-floor.ts';
import { dialPeer } from './join-port.ts';
import type { OpenStoreOptions } from './store-parts.ts';

export interface EtcdEngineOptions {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly leaseTtlMs: number;
  /** Empty with an external etcd. */
  readonly peerAddress: string;
}

/** The lock of the data directory must be held: a leader key with our name is then a dead one's. */
export function etcdEngine(options: OpenStoreOptions, engine: EtcdEngineOptions): EtcdStore {
  const { runtime, logger, settings, metrics } = options;
  return new EtcdStore({
    runtime,
    client: engine.client,
    nodeId: settings.nodeId,
    grpcAddress: settings.advertiseAddress,
    peerAddress: engine.peerAddress,
    version: settings.build.version,
    bootstrap: settings.mayBootstrap,
    prefix: engine.prefix,
    leaderLeaseTtlMs: engine.leaseTtlMs,
    holdsNodeLock: true,
    dialLeader: (address) => dialPeer(options, address),
    restoreFile: restoreFileOf(settings.dataDir),
    observer: {
      onLeaseRevoked: () => {
        logger.warn('the leader is dead; its lease was revoked');
        metrics.onLeaseRevoked();
      },
      onProblem: (what, error) =>
        logger.warn(`etcd: ${what} failed`, { err: describeThrown(error) }),
    },
  });
}

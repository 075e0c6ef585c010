// A storage engine with what comes beside it, as the process holds it.

import { type Runtime, describeThrown } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { TlsMaterial } from '@bigfleet/wire';
import type { EtcdClient } from '../etcd-client/client.ts';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';
import type { JoinHandler } from '../service/join-handlers.ts';
import { EtcdStore } from '../store/etcd/etcd-store.ts';
import { restoreFileOf } from '../store/etcd/restore-floor.ts';
import type { Store } from '../store/store.ts';
import { dialPeer } from './join-port.ts';
import type { CoordinatorSettings } from './settings.ts';

export interface OpenStoreOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: CoordinatorSettings;
  readonly metrics: CoordinatorMetrics;
  /** Of the gRPC port. */
  readonly tls: TlsMaterial | undefined;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}

export interface StoreParts {
  readonly store: Store;
  readonly join: JoinHandler;
  /**
   * Resolves when the store may be opened: a managed etcd is probed for, joined and started, which
   * takes as long as the other replicas take. Rejects when the process stops before that.
   */
  readonly form?: () => Promise<void>;
  /** Runs beside the replica, once the store is formed, until the process stops. */
  readonly run?: () => Promise<void>;
  /** Runs while this replica leads. */
  readonly whileLeading?: (signal: AbortSignal) => Promise<void>;
  /** After the store was closed. */
  readonly close?: () => void | Promise<void>;
}

export interface EtcdEngineOptions {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly leaseTtlMs: number;
  /** Empty with an external etcd. */
  readonly peerAddress: string;
}

/**
 * The etcd engine of this process, over a managed or an external etcd. The lock of the data directory must be
 * held: a leader key with our name is then a dead one's.
 */
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

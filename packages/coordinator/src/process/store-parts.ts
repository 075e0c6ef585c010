// A storage engine with what comes beside it, as the process holds it.

import { type Runtime, describeThrown } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { TlsMaterial } from '@bigfleet/wire';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';
import type { JoinHandler } from '../service/join-handlers.ts';
import { EtcdStore } from '../store/etcd/etcd-store.ts';
import type { EtcdStoreOptions } from '../store/etcd/options.ts';
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

/**
 * The etcd engine of this process, over a managed or an external etcd. The lock of the data directory must be
 * held: a leader key with our name is then a dead one's.
 */
export function etcdEngine(
  options: OpenStoreOptions,
  engine: Pick<EtcdStoreOptions, 'client' | 'prefix' | 'leaderLeaseTtlMs' | 'peerAddress'>,
): EtcdStore {
  const { runtime, logger, settings, metrics } = options;
  return new EtcdStore({
    ...engine,
    runtime,
    nodeId: settings.nodeId,
    grpcAddress: settings.advertiseAddress,
    version: settings.build.version,
    bootstrap: settings.mayBootstrap,
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

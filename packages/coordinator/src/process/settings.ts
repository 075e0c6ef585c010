// Everything that `bigfleet coordinator` was told on its command line, as values: parsed and
// checked by whoever parsed it, so that the process itself knows no flag.

import type { ListenAddress } from '@bigfleet/telemetry';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { SnapshotExporterOptions } from '../snapshots/export-snapshots.ts';

export interface CoordinatorSettings {
  readonly nodeId: string;
  readonly listen: string;
  /** Where peers and shards dial this replica. */
  readonly advertiseAddress: string;
  readonly metricsAddress: ListenAddress;
  readonly dataDir: string;
  readonly mayBootstrap: boolean;
  readonly store: StoreSettings;
  readonly snapshots: SnapshotExportSettings | undefined;
  readonly rebalance: RebalanceSettings;
  /** Empty: no raw samples. */
  readonly traceSamples: string;
  readonly hasDebugEndpoints: boolean;
  readonly hasReflection: boolean;
  readonly tls: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string;
    readonly requireTls: boolean;
  };
  readonly build: { readonly version: string; readonly revision: string };
}

export type StoreSettings =
  | { readonly kind: 'sqlite' }
  | {
      readonly kind: 'external-etcd';
      readonly endpoints: readonly string[];
      readonly prefix: string;
      readonly leaseTtlMs: number;
      readonly credentials: EtcdCredentials;
    }
  | {
      readonly kind: 'managed-etcd';
      readonly binary: string;
      readonly clientAddress: string;
      readonly peerBind: string;
      readonly peerAdvertise: string;
      readonly joinAddress: string;
      /** Of --id: ordinal 0 alone may form a new cluster. */
      readonly ordinal: number;
      readonly prefix: string;
      readonly leaseTtlMs: number;
    };

/** Paths, never contents; empty = not used. */
export interface EtcdCredentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  readonly username: string;
  readonly passwordFile: string;
}

export type SnapshotExportSettings = Pick<
  SnapshotExporterOptions,
  'directory' | 'intervalMs' | 'retain'
>;

// Everything that `bigfleet-operator` was told on its command line, as checked values. The command line
// itself stays in packages/cli: the demo starts operators from values of its own.

import type { ClusterId } from '@bigfleet/base';
import type { ListenAddress } from '@bigfleet/telemetry';

export interface OperatorSettings {
  readonly clusterId: ClusterId;
  readonly shardAddress: string;
  /** Empty: `$KUBECONFIG`, then the Pod's own. */
  readonly kubeconfig: string;
  readonly metricsAddress: ListenAddress;
  readonly qps: number;
  readonly burst: number;
  readonly acknowledgeConcurrency: number;
  readonly rollupIntervalMs: number;
  /** Empty: the built-in blob of kubernetes §4.1, with which a machine joins nothing. */
  readonly bootstrapTemplateFile: string;
  /** Empty: all. */
  readonly bootstrapAllowedKeys: ReadonlySet<string>;
  /** This cluster as machines reach it; empty: as this process does. */
  readonly apiServerEndpoint: string;
  /** Undefined: templates get no token. */
  readonly bootstrapToken: { readonly ttlMs: number; readonly minTtlMs: number } | undefined;
  /** Undefined: this process alone serves the cluster. */
  readonly lease: LeaseSettings | undefined;
  readonly tls: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string;
    readonly requireTls: boolean;
  };
  /** Required identity of the server; empty: any shard. */
  readonly shardId: string;
  /** Name in the shard's certificate; empty: the host of its address. */
  readonly shardServerName: string;
  /** Empty: no raw samples. */
  readonly traceSamples: string;
  readonly hasDebugEndpoints: boolean;
  readonly build: { readonly version: string; readonly revision: string };
}

export interface LeaseSettings {
  readonly name: string;
  /** Empty: the namespace of the access to the cluster. */
  readonly namespace: string;
  readonly durationMs: number;
}

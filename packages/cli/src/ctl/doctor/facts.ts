// Everything that the checks look at, as values: gathered once, judged by pure functions.

import type {
  ClusterBinding,
  GetStatusResponse,
  ProviderEntry,
  QuotaAllocation,
  SessionView,
  ShardRegistryEntry,
  ShardStatus,
  TransferRecord,
} from '@bigfleet/wire';
import type { Brakes } from '../listings/brakes.ts';

/** An answer, or why there is none. */
export type Asked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export interface ServerFacts {
  readonly address: string;
  /** Of the certificate that it presented; undefined in plaintext or when it did not answer. */
  readonly certificateExpiresUnixSeconds: number | undefined;
}

export interface ReplicaFacts extends ServerFacts {
  readonly status: Asked<GetStatusResponse>;
}

export interface ShardFacts extends ServerFacts {
  readonly entry: Pick<ShardRegistryEntry, 'shardId' | 'address' | 'lastHeartbeatUnixNs'>;
  readonly status: Asked<ShardStatus>;
  readonly sessions: Asked<readonly SessionView[]>;
  readonly brakes: Asked<Brakes>;
}

export interface FleetFacts {
  readonly nowUnixNanos: bigint;
  readonly clientVersion: string;
  /** Of this client; undefined in plaintext. */
  readonly clientCertificateExpiresUnixSeconds: number | undefined;
  /** Every address behind the coordinator's name. */
  readonly replicas: readonly ReplicaFacts[];
  /** From the leader; the problem when there is none. */
  readonly registry: Asked<LeaderFacts>;
  readonly shards: readonly ShardFacts[];
}

export interface LeaderFacts {
  readonly shards: readonly ShardRegistryEntry[];
  readonly providers: readonly ProviderEntry[];
  readonly quotas: readonly QuotaAllocation[];
  readonly bindings: Asked<readonly ClusterBinding[]>;
  readonly transfers: Asked<readonly TransferRecord[]>;
}

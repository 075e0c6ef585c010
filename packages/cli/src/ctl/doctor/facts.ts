// What the checks look at and what they find, as values: facts are gathered once, and judged by pure
// functions.

import type { Result } from '@bigfleet/base';
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
import type { Brakes } from '../kinds/brakes.ts';

/** An answer, or why there is none. */
export type Asked<T> = Result<T, string>;

interface ServerFacts {
  /** Of the certificate that it presented; undefined in plaintext or when it did not answer. */
  readonly certificateExpiresUnixSeconds: number | undefined;
}

export interface ReplicaFacts extends ServerFacts {
  readonly address: string;
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

export const SEVERITIES = ['ok', 'info', 'warning', 'error'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** How bad, where, what, and what to do about it. */
export interface Finding {
  readonly severity: Severity;
  /** Stable name of the check, to be searched for. */
  readonly check: string;
  /** What it is about: a shard, a provider, a replica. */
  readonly subject: string;
  readonly message: string;
  /** What to do; empty when nothing is to be done. */
  readonly fix: string;
}

export function finding(
  severity: Severity,
  check: string,
  subject: string,
  message: string,
  fix = '',
): Finding {
  return { severity, check, subject, message, fix };
}

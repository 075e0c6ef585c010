// A capacity provider as the shard sees it (provider-contract §14): six calls, domain types, no
// wire. The gRPC client and the test fake implement it alike. Mutations are accepted and answered
// at once; what becomes of them is learned by List and Get. Callers never set a fencing token: the
// implementation stamps a fresh one on every attempt, and nothing here is ever retried.
//
// Failures are ProviderErrors (provider-error.ts), which say what the caller may conclude.

import type { CapacityTypeCode, HostRef, StateCode } from '@bigfleet/engine';

/** One machine as a provider reports it, unscreened: see reconcile/screen.ts. */
export interface ReportedMachine {
  readonly id: string;
  /** 0 when the provider sent none. The wire and the engine number states alike. */
  readonly state: 0 | StateCode;
  readonly host: HostRef | undefined;
  readonly instanceType: string;
  readonly zone: string;
  /** 0 when the provider sent none. */
  readonly capacityType: 0 | CapacityTypeCode;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly resources: ReadonlyMap<string, string>;
  /** Empty when the provider sent none: readers use `resources` then. */
  readonly allocatable: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly lastError: string;
  readonly cluster: string;
  /** Opaque to providers; what the shard stamped at Configure. */
  readonly shardMetadata: ReadonlyMap<string, string>;
}

export interface TransitionAck {
  /** Opaque; the same for every retry of one operation. */
  readonly operationId: string;
  /** As of acceptance; undefined when the provider sent no snapshot. */
  readonly machine: ReportedMachine | undefined;
}

export interface ConfigureOrder {
  readonly machineId: string;
  readonly clusterId: string;
  readonly bootstrapBlob: Uint8Array;
  readonly shardMetadata: ReadonlyMap<string, string>;
}

export interface DrainOrder {
  readonly machineId: string;
  readonly gracePeriodSeconds: bigint;
}

/** Of every state and without a cap: a filtered List would not say what is gone. */
export interface ListRequest {
  /** The revision of an earlier List: only what changed since. Empty or absent: everything. */
  readonly sinceRevision?: Uint8Array;
}

export interface CallLimits {
  /** Without a deadline of its own, the call gets the default of its kind. */
  readonly signal?: AbortSignal | undefined;
  /** Told before the answer which connection carries the call; never by a provider in this process. */
  readonly onConnection?: (connection: number) => void;
}

export interface Provider {
  create(machineId: string, limits?: CallLimits): Promise<TransitionAck>;
  configure(order: ConfigureOrder, limits?: CallLimits): Promise<TransitionAck>;
  drain(order: DrainOrder, limits?: CallLimits): Promise<TransitionAck>;
  delete(machineId: string, limits?: CallLimits): Promise<TransitionAck>;
  get(machineId: string, limits?: CallLimits): Promise<ReportedMachine>;
  /** A MachineList, undecoded: decoding half a million machines would stop the thread's sockets. */
  list(request: ListRequest, limits?: CallLimits): Promise<Uint8Array>;
}

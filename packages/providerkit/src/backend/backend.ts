// What a provider author writes: four methods, and a few more where the substrate offers more.
// Methods await and return; the kit runs them in the background, under a timeout, with a signal.
// A rejection means FAILED. Fencing, idempotency, metadata, timeouts and readiness are the kit's:
// a backend that re-implements one of them is a defect (providers A1).

import type { CapacityTypeName, HostRef, MachineRecord } from '../model/machine.ts';

/** One slot or host as the substrate sees it; complete every time, because a refresh overwrites. */
export interface Instance {
  readonly id: string;
  /** Unset: Idle when there is a host, Speculative otherwise. */
  readonly state?: 'Speculative' | 'Idle';
  readonly host?: HostRef;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeName;
  /** US dollars; never 0 for capacity that is billed. */
  readonly pricePerHour: number;
  /** Per hour, in [0, 1]; above 0 for spot. */
  readonly interruptionProbability: number;
  readonly resources: ReadonlyMap<string, string>;
  readonly allocatable?: ReadonlyMap<string, string>;
  readonly labels?: ReadonlyMap<string, string>;
}

export interface DescribeOptions {
  readonly signal: AbortSignal;
}

export interface CreateInstanceOptions {
  /** Already Creating. */
  readonly machine: MachineRecord;
  /** Globally unique and the same on every attempt: the substrate's idempotency token. */
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export interface CreatedInstance {
  /** Both parts non-empty, or the kit fails the transition. */
  readonly host: HostRef;
  readonly resources?: ReadonlyMap<string, string>;
  readonly allocatable?: ReadonlyMap<string, string>;
}

export interface ConfigureInstanceOptions {
  /** Configuring, with its binding. */
  readonly machine: MachineRecord;
  readonly clusterId: string;
  /** A join credential: never log it, never keep it. */
  readonly bootstrapBlob: Uint8Array;
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export interface ConfirmNodeReadyOptions {
  readonly machine: MachineRecord;
  readonly clusterId: string;
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export interface DrainInstanceOptions {
  readonly machine: MachineRecord;
  /** 0 means as fast as possible, not "fail". */
  readonly gracePeriodSeconds: number;
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export interface DeleteInstanceOptions {
  readonly machine: MachineRecord;
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export interface CleanupFailedOptions {
  /** Failed; `host` is the substrate's truth where a describe knows it. */
  readonly machine: MachineRecord;
  readonly signal: AbortSignal;
}

export interface Backend {
  /**
   * False when create, drain or delete can't be repeated with the same operation id: what a
   * restart interrupted then becomes Failed instead of being driven again.
   */
  readonly redrive?: boolean;
  /** The whole inventory or an error, never a part of it: absence is read as loss. */
  describe(options: DescribeOptions): Promise<readonly Instance[]>;
  /** Resolves when the host runs. */
  createInstance(options: CreateInstanceOptions): Promise<CreatedInstance>;
  /** Resolves when the join hook succeeded, not when it was queued. */
  configureInstance(options: ConfigureInstanceOptions): Promise<void>;
  /** Replaces the configured readiness source, where the substrate has a better signal. */
  confirmNodeReady?(options: ConfirmNodeReadyOptions): Promise<void>;
  /** Leaves the host running, unbound, and without the old cluster's credentials. */
  drainInstance(options: DrainInstanceOptions): Promise<void>;
  /** Already gone is success. Absent: Delete answers UNIMPLEMENTED. */
  deleteInstance?(options: DeleteInstanceOptions): Promise<void>;
  /** Where the kit's default (look up, then delete, else wipe) is not enough. */
  cleanupFailed?(options: CleanupFailedOptions): Promise<void>;
  close?(): Promise<void>;
}

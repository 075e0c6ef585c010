// One machine as the kit keeps and stores it. Names instead of enum numbers, so that a reordered
// enum can't corrupt a state file; Maps instead of plain objects, so that `__proto__` survives.
// Records are immutable: every change is a new record, so a snapshot can't be torn or aliased.

export type MachineStateName =
  | 'Speculative'
  | 'Creating'
  | 'Idle'
  | 'Configuring'
  | 'Configured'
  | 'Draining'
  | 'Deleting'
  | 'Failed';

export type CapacityTypeName = 'BareMetal' | 'Reserved' | 'OnDemand' | 'Spot';

/** The four lifecycle calls; with the machine id, the key of idempotency (provider-contract §5). */
export type OperationKind = 'create' | 'configure' | 'drain' | 'delete';

export interface HostRef {
  readonly provider: string;
  readonly ref: string;
}

export interface MachineRecord {
  readonly id: string;
  readonly state: MachineStateName;
  /** Absent while there is no real host. */
  readonly host?: HostRef;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeName;
  readonly pricePerHour: number;
  /** What the backend declares for this slot or host: the forecast. */
  readonly interruptionProbability: number;
  /**
   * What was observed on this very host (a termination notice); absent when nothing was. The
   * higher of the two is published. It ends with the host.
   */
  readonly observedProbability?: number;
  readonly resources: ReadonlyMap<string, string>;
  readonly allocatable?: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  /** Empty unless the state is Failed. */
  readonly lastError: string;
  /** Empty unless bound. */
  readonly cluster: string;
  readonly shardMetadata: ReadonlyMap<string, string>;
  /** The store revision of the last observable change; unique per record. */
  readonly modifiedRevision: number;
}

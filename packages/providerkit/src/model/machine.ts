// One machine as the kit keeps and stores it. Names instead of enum numbers, so that a reordered
// enum can't corrupt a state file; Maps instead of plain objects, so that `__proto__` survives.
// Records are immutable: every change is a new record, so a snapshot can't be torn or aliased.

export const machineStates = [
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
] as const;
export type MachineStateName = (typeof machineStates)[number];

export const capacityTypes = ['BareMetal', 'Reserved', 'OnDemand', 'Spot'] as const;
export type CapacityTypeName = (typeof capacityTypes)[number];

/** The four lifecycle calls; with the machine id, the key of idempotency (provider-contract §5). */
export const operationKinds = ['create', 'configure', 'drain', 'delete'] as const;
export type OperationKind = (typeof operationKinds)[number];

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

/**
 * A copy for code outside the kit. Types say readonly, but author code may be JavaScript: a backend
 * that edits a label of its copy must not edit ten thousand machines that share the map.
 */
export function detached(record: MachineRecord): MachineRecord {
  return {
    ...record,
    ...(record.host === undefined ? {} : { host: { ...record.host } }),
    resources: new Map(record.resources),
    ...(record.allocatable === undefined ? {} : { allocatable: new Map(record.allocatable) }),
    labels: new Map(record.labels),
    shardMetadata: new Map(record.shardMetadata),
  };
}

/** What a reader is told about interruption: the higher of forecast and observation. */
export function publishedProbability(record: MachineRecord): number {
  return Math.max(record.interruptionProbability, record.observedProbability ?? 0);
}

/**
 * The four edges of the provider's state machine (provider-contract §3). Idle is the hub: there is no way
 * from one binding to another and none from a binding to deletion. Failed has no edge out by RPC.
 */
export interface Edge {
  readonly start: MachineStateName;
  readonly transitional: MachineStateName;
  readonly target: MachineStateName;
}

export const edges: Readonly<Record<OperationKind, Edge>> = {
  create: { start: 'Speculative', transitional: 'Creating', target: 'Idle' },
  configure: { start: 'Idle', transitional: 'Configuring', target: 'Configured' },
  drain: { start: 'Configured', transitional: 'Draining', target: 'Idle' },
  delete: { start: 'Idle', transitional: 'Deleting', target: 'Speculative' },
};

/** The operation that is under way in this state; undefined in a stable one. */
export function kindInTransit(state: MachineStateName): OperationKind | undefined {
  return operationKinds.find((kind) => edges[kind].transitional === state);
}

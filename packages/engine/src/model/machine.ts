// One machine as a plain record: the form in which it enters and leaves the engine, and the
// form in which the oracle thinks. The hot path keeps it in columns.

import {
  type MachineRefusal,
  type PenaltyBucket,
  PINNED_BUCKET,
  ZERO_BUCKET,
} from '@bigfleet/base';
import { type CapacityTypeCode, isCapacityTypeCode } from './capacity-type.ts';
import type { Resources } from './resources.ts';
import { gridOf, isPresent, isStateCode, State, type StateCode } from './state.ts';

export interface HostRef {
  readonly provider: string;
  readonly ref: string;
}

/** What the shard stamped when it configured the machine, echoed by the provider. */
export interface Assignment {
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  /** Fingerprint of the need that the machine serves; empty when unattributed. */
  readonly needFingerprint: string;
  /** Gang; empty for plain needs. */
  readonly group: string;
}

export const noAssignment: Assignment = {
  priority: 0,
  interruptionBucket: ZERO_BUCKET,
  reclamationBucket: ZERO_BUCKET,
  needFingerprint: '',
  group: '',
};

export interface Machine {
  readonly id: string;
  readonly state: StateCode;
  /** The configured provider that owns the record: scope of quota slices and of removal. */
  readonly provider: string;
  readonly host: HostRef | undefined;
  /** Empty when unbound. */
  readonly cluster: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityTypeCode;
  readonly labels: ReadonlyMap<string, string>;
  /** What the machine really provides; `resources` when the provider sent no allocatable. */
  readonly allocatable: Resources;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly lastError: string;
  readonly assigned: Assignment;
  /** For which cluster a Creating machine was bought; lost on restart. */
  readonly intendedCluster: string;
  /** Not ours to act on: frozen for a transfer, reserved for another shard, or not owned. */
  readonly withheld: Withheld | undefined;
}

export type Withheld = 'transfer_frozen' | 'transfer_reserved' | 'not_owned';

/** By number, as columns and traces have them; 0 is "ours to act on". Never renumbered. */
export const withheldReasons: readonly (Withheld | undefined)[] = [
  undefined,
  'transfer_frozen',
  'transfer_reserved',
  'not_owned',
];

/** First violation wins: structure, error text, probability, price. */
export function machineProblem(machine: Machine): MachineRefusal | undefined {
  if (machine.id === '' || !isStateCode(machine.state)) return 'structural';
  if (!isCapacityTypeCode(machine.capacityType)) return 'structural';
  const { host, cluster } = gridOf(machine.state);
  if (!isPresent(host, isHost(machine.host))) return 'structural';
  if (!isPresent(cluster, machine.cluster !== '')) return 'structural';
  if (machine.state === State.Failed && machine.lastError === '') return 'structural';
  if (!isStampable(machine.assigned)) return 'structural';
  const probability = machine.interruptionProbability;
  if (!(probability >= 0 && probability <= 1)) return 'interruption_probability';
  if (!(machine.pricePerHour >= 0 && machine.pricePerHour < Number.POSITIVE_INFINITY))
    return 'price';
  return undefined;
}

/** The columns are int32 and bytes: anything else would come back as another value. */
function isStampable({ priority, interruptionBucket, reclamationBucket }: Assignment): boolean {
  return (priority | 0) === priority && isBucket(interruptionBucket) && isBucket(reclamationBucket);
}

export function isBucket(bucket: number): boolean {
  return Number.isInteger(bucket) && bucket >= ZERO_BUCKET && bucket <= PINNED_BUCKET;
}

/** Two empty strings are how the wire says that there is no host. */
export function isHost(host: HostRef | undefined): boolean {
  return host !== undefined && (host.provider !== '' || host.ref !== '');
}

// A machine record as the checks read it: states and capacity types by name, maps as Map (a plain
// object loses `__proto__` and invents `constructor`), an empty host as no host. Nothing is
// corrected here: whatever the provider sent is what the checks judge.

import { CapacityType, type Machine, MachineState, toMap } from '@bigfleet/wire';

/** `UNRECOGNISED`: a number outside the contract's table, which no provider may send. */
export type State = keyof typeof MachineState | 'UNRECOGNISED';
export type Capacity = keyof typeof CapacityType | 'UNRECOGNISED';
export type TextMap = ReadonlyMap<string, string>;

export interface Host {
  readonly provider: string;
  readonly ref: string;
}

export interface MachineView {
  readonly id: string;
  readonly state: State;
  /** Undefined also when both strings are empty (provider-contract §2.2). */
  readonly host: Host | undefined;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: Capacity;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly resources: TextMap | undefined;
  readonly allocatable: TextMap | undefined;
  readonly labels: TextMap;
  readonly lastError: string;
  readonly cluster: string;
  readonly metadata: TextMap;
}

const stateNames = namesByNumber<State>(MachineState);
const capacityNames = namesByNumber<Capacity>(CapacityType);

/** The eight states that a record may carry. */
export const legalStates: readonly State[] = [
  'SPECULATIVE',
  'CREATING',
  'IDLE',
  'CONFIGURING',
  'CONFIGURED',
  'DRAINING',
  'DELETING',
  'FAILED',
];

const transitionalStates: ReadonlySet<State> = new Set([
  'CREATING',
  'CONFIGURING',
  'DRAINING',
  'DELETING',
]);

export function isTransitional(state: State): boolean {
  return transitionalStates.has(state);
}

export function isStable(state: State): boolean {
  return legalStates.includes(state) && !isTransitional(state);
}

export function stateNumber(state: State): MachineState {
  return state === 'UNRECOGNISED' ? MachineState.UNSPECIFIED : MachineState[state];
}

export function viewOf(machine: Machine): MachineView {
  const { host } = machine;
  const isHosted = host !== undefined && (host.provider !== '' || host.ref !== '');
  return {
    id: machine.id,
    state: stateNames.get(machine.state) ?? 'UNRECOGNISED',
    host: isHosted ? { provider: host.provider, ref: host.ref } : undefined,
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType: capacityNames.get(machine.capacityType) ?? 'UNRECOGNISED',
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    resources: machine.resources && toMap(machine.resources.resources),
    allocatable: machine.allocatable && toMap(machine.allocatable.resources),
    labels: toMap(machine.labels),
    lastError: machine.lastError,
    cluster: machine.cluster,
    metadata: toMap(machine.shardMetadata),
  };
}

function namesByNumber<Name extends string>(
  table: Readonly<Record<string, number>>,
): ReadonlyMap<number, Name> {
  const names = new Map<number, Name>();
  for (const [name, number] of Object.entries(table)) names.set(number, name as Name);
  return names;
}

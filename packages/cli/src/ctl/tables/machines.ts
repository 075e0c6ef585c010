// Machines as their shards see them.

import { capacityTypeName, stateName } from '@bigfleet/engine';
import type { MachineView } from '@bigfleet/wire';
import type { Tone } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { ageText, dollarsText, resourcesText, utcTime } from '../output/texts.ts';
import { penaltyText } from './penalty-text.ts';

export interface MachineRow {
  readonly machine: string;
  readonly shard: string;
  readonly state: string;
  readonly stateSince: string | null;
  readonly age: string;
  readonly cluster: string;
  readonly intendedCluster: string;
  readonly node: string;
  readonly provider: string;
  readonly host: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly dollarsPerHour: number;
  readonly interruptionProbability: number;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly interruptionPenalty: string;
  readonly reclamationPenalty: string;
  readonly need: string;
  readonly group: string;
  readonly pendingAction: string;
  readonly transfer: string;
  readonly drainDeadline: string | null;
  readonly lastError: string;
}

export function machineRow(view: MachineView, shard: string, nowUnixNanos: bigint): MachineRow {
  const { host } = view;
  return {
    machine: view.machineId,
    shard,
    state: stateName(view.state),
    stateSince: utcTime(view.stateSinceUnixNanos) ?? null,
    age: ageText(view.stateSinceUnixNanos, nowUnixNanos),
    cluster: view.clusterId,
    intendedCluster: view.intendedClusterId,
    node: view.nodeName,
    provider: view.provider,
    host: host === undefined ? '' : `${host.provider}/${host.ref}`,
    instanceType: view.instanceType,
    zone: view.zone,
    capacityType: capacityTypeName(view.capacityType),
    dollarsPerHour: view.pricePerHour,
    interruptionProbability: view.interruptionProbability,
    allocatable: { ...view.allocatable?.resources },
    labels: { ...view.labels },
    priority: view.assignedPriority,
    interruptionPenalty: penaltyText(view.interruptionPenaltyBucket),
    reclamationPenalty: penaltyText(view.reclamationPenaltyBucket),
    need: view.needFingerprint,
    group: view.group,
    pendingAction: view.pendingAction,
    transfer: view.frozenTransferId,
    drainDeadline: utcTime(view.drainDeadlineUnixNanos) ?? null,
    lastError: view.lastError,
  };
}

export const machineColumns: readonly Column<MachineRow>[] = [
  { title: 'MACHINE', of: ({ machine }) => machine },
  { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => stateTone(state) },
  { title: 'AGE', of: ({ age }) => age },
  { title: 'CLUSTER', of: ({ cluster }) => cluster },
  { title: 'TYPE', of: ({ instanceType }) => instanceType },
  { title: 'ZONE', of: ({ zone }) => zone },
  { title: '$/H', of: ({ dollarsPerHour }) => dollarsText(dollarsPerHour) },
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'NODE', of: ({ node }) => node, isWide: true },
  { title: 'PROVIDER', of: ({ provider }) => provider, isWide: true },
  { title: 'CAPACITY', of: ({ capacityType }) => capacityType, isWide: true },
  { title: 'PRIORITY', of: ({ priority }) => String(priority), isWide: true },
  { title: 'ALLOCATABLE', of: ({ allocatable }) => resourcesText(allocatable), isWide: true },
  { title: 'PENDING', of: ({ pendingAction }) => pendingAction, isWide: true },
  { title: 'ERROR', of: ({ lastError }) => lastError, isWide: true, tone: () => 'bad' },
];

function stateTone(state: string): Tone | undefined {
  if (state === 'Failed') return 'bad';
  if (state === 'Configured') return 'good';
  return state === 'Speculative' ? 'dim' : undefined;
}

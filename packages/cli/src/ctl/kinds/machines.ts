// Machines as their shards see them.

import { ok } from '@bigfleet/base';
import { capacityTypeName, stateName } from '@bigfleet/engine';
import type { CallOptions, MachineView } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import type { Tone } from '../output/style.ts';
import {
  ageText,
  countText,
  dollarsText,
  penaltyText,
  pairsText,
  utcTime,
} from '../output/text.ts';
import { defineKind, fromShards, type Kind, type ListQuery } from './kind.ts';

function machineRow(view: MachineView, shard: string, nowUnixNanos: bigint) {
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

type MachineRow = ReturnType<typeof machineRow>;

function stateTone(state: string): Tone | undefined {
  if (state === 'Failed') return 'bad';
  if (state === 'Configured') return 'good';
  return state === 'Speculative' ? 'dim' : undefined;
}

interface Machines {
  readonly views: readonly MachineView[];
  /** Matches before the limit. */
  readonly total: number;
}

export async function fetchMachines(
  api: ShardApi,
  call: CallOptions,
  query: ListQuery,
): Promise<Machines> {
  const views: MachineView[] = [];
  let total = 0;
  const request = {
    machineIds: [...query.machines],
    states: query.states as MachineView['state'][],
    clusterIds: [...query.clusters],
    provider: query.provider,
    requirements: [...query.requirements],
    limit: query.limit,
  };
  for await (const batch of api.query.listMachines(request, call)) {
    total = batch.total;
    views.push(...batch.machines);
  }
  return { views, total };
}

export const machines: Kind = defineKind<MachineRow>({
  plural: 'machines',
  columns: [
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
    { title: 'ALLOCATABLE', of: ({ allocatable }) => pairsText(allocatable), isWide: true },
    { title: 'PENDING', of: ({ pendingAction }) => pendingAction, isWide: true },
    { title: 'ERROR', of: ({ lastError }) => lastError, isWide: true, tone: () => 'bad' },
  ],
  filters: ['cluster', 'provider', 'machine'],
  rows: fromShards({
    feature: 'list machines',
    ask: fetchMachines,
    rows: ({ views }, shard, { nowUnixNanos }) =>
      views.map((view) => machineRow(view, shard, nowUnixNanos)),
    note: ({ views, total }) =>
      views.length < total
        ? `${countText(views.length)} of ${countText(total)} machines, as --limit says`
        : undefined,
  }),
  narrow: (name) => ok({ machines: [name] }),
  isNamed: ({ machine }, name) => machine === name,
  subjectOf: ({ machine }) => ({ case: 'machineId', value: machine }),
});

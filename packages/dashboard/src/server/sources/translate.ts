// From what a shard sends to what the model is told: a renaming, field by field, with a bound on every text.
// A shard is trusted to mean what it says, not to be sane: numbers that are none and states that do not exist
// must not reach the sums.

import {
  CapacityType,
  type CapacityTypeCode,
  isCapacityTypeCode,
  isStateCode,
  State,
  type StateCode,
} from '@bigfleet/engine';
import {
  type BrakeBatch,
  type CycleDelta,
  getOwn,
  type MachineView,
  type NeedRef as WireNeedRef,
  type NeedView,
  type NodeSelectorRequirement,
  Operator,
  type PhaseTiming,
  type ProviderSummary,
  type RecordFrame,
  type SessionView,
  type ShardStatus,
  UnmetReason,
} from '@bigfleet/wire';
import type { NeedRef } from '../../api/index.ts';
import type {
  BrakeFacts,
  CycleFacts,
  MachineFacts,
  NeedFacts,
  PhaseFacts,
  ProviderFacts,
  RecordFacts,
  SessionFacts,
  ShardFacts,
} from '../../model/index.ts';

const REGION_KEY = 'topology.kubernetes.io/region';
const MAX_TEXT = 512;
const MAX_VALUES = 12;
const MAX_REQUIREMENTS = 64;
/** As many as an operator reports (wire-additions §2). */
const MAX_PHANTOMS = 2_000;
const NANOS_PER_MS = 1_000_000n;

export function msOf(unixNanos: bigint): number {
  return Number(unixNanos / NANOS_PER_MS);
}

export function clipped(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

export interface LabelKeys {
  /** The first one that a machine carries. */
  readonly rack: readonly string[];
}

export function machineFacts(view: MachineView, keys: LabelKeys): MachineFacts {
  const { labels } = view;
  const rackKey = keys.rack.find((key) => getOwn(labels, key) !== undefined) ?? '';
  return {
    machine: clipped(view.machineId),
    state: stateOf(view.state),
    cluster: clipped(view.clusterId === '' ? view.intendedClusterId : view.clusterId),
    provider: clipped(view.provider),
    instanceType: clipped(view.instanceType),
    region: clipped(getOwn(labels, REGION_KEY) ?? ''),
    zone: clipped(view.zone),
    rack: clipped(getOwn(labels, rackKey) ?? ''),
    capacityType: capacityTypeOf(view.capacityType),
    dollarsPerHour: finite(view.pricePerHour),
    interruptionProbability: finite(view.interruptionProbability),
    priority: view.assignedPriority,
    interruptionPenaltyBucket: view.interruptionPenaltyBucket,
    reclamationPenaltyBucket: view.reclamationPenaltyBucket,
    node: clipped(view.nodeName),
    sinceMs: msOf(view.stateSinceUnixNanos),
    pendingAction: clipped(view.pendingAction),
    lastError: clipped(view.lastError),
    need: clipped(view.needFingerprint),
    group: clipped(view.group),
  };
}

export function needFacts(view: NeedView): NeedFacts {
  const { need, matchingSupply: supply } = view;
  return {
    cluster: clipped(view.clusterId),
    fingerprint: view.profileFingerprint,
    group: need?.group ?? '',
    priority: need?.priority ?? 0,
    interruptionPenaltyBucket: need?.interruptionPenaltyBucket ?? 0,
    reclamationPenaltyBucket: need?.reclamationPenaltyBucket ?? 0,
    requirements: (need?.requirements ?? []).slice(0, MAX_REQUIREMENTS).map(requirementText),
    resources: plainTexts(need?.aggregateResources ?? {}),
    isSatisfied: view.satisfied,
    deficit: plainTexts(view.residualDeficit?.resources ?? {}),
    reason: view.satisfied ? '' : unmetCode(view),
    claimed: view.claimedMachineCount,
    ageCyclesUnmet: view.ageCyclesUnmet,
    isEscalated: view.escalated,
    isParked: view.acquisitionParked,
    domain: clipped(view.sameDomain),
    matching: {
      idle: supply?.idle ?? 0,
      configured: supply?.configured ?? 0,
      speculative: supply?.speculative ?? 0,
    },
    awaitingDrain: view.awaitingDrainCount,
  };
}

/** A shard that knows no codes tells the established reason, whose names are codes in small letters. */
function unmetCode({ reasonCode, unmetReason }: NeedView): string {
  if (reasonCode !== '') return clipped(reasonCode);
  return unmetReason === UnmetReason.UNSPECIFIED ? '' : enumName(UnmetReason, unmetReason);
}

const OPERATORS: Readonly<Record<number, string>> = {
  [Operator.IN]: 'In',
  [Operator.NOT_IN]: 'NotIn',
  [Operator.EXISTS]: 'Exists',
  [Operator.DOES_NOT_EXIST]: 'DoesNotExist',
  [Operator.SAME]: 'Same',
};

/** `zone In [a, b]`, `rack Same`. */
function requirementText({ key, operator, values }: NodeSelectorRequirement): string {
  const name = OPERATORS[operator] ?? `operator ${operator}`;
  if (values.length === 0) return clipped(`${key} ${name}`);
  const more = values.length > MAX_VALUES ? `, … ${values.length - MAX_VALUES} more` : '';
  return clipped(`${key} ${name} [${values.slice(0, MAX_VALUES).join(', ')}${more}]`);
}

export function cycleFacts(delta: CycleDelta, keys: LabelKeys): CycleFacts {
  return {
    cycle: Number(delta.cycle),
    atMs: msOf(delta.atUnixNanos),
    machinesChanged: delta.machinesChanged.map((view) => machineFacts(view, keys)),
    machinesRemoved: delta.machinesRemoved.map(clipped),
    needsChanged: delta.needsChanged.map(needFacts),
    needsRemoved: delta.needsRemoved.map(needRef),
    actions: delta.actions,
    shortfalls: Math.max(0, delta.shortfalls),
    dollarsPerHour: finite(delta.dollarsPerHour),
  };
}

export function needRef({ clusterId, profileFingerprint, group }: WireNeedRef): NeedRef {
  return { cluster: clipped(clusterId), fingerprint: profileFingerprint, group };
}

export function recordFacts(frame: RecordFrame): RecordFacts {
  return {
    epoch: frame.shardEpoch,
    cycle: Number(frame.cycle),
    atMs: msOf(frame.atUnixNanos),
    payload: frame.payload,
    actionHash: Buffer.from(frame.actionHash).toString('hex'),
  };
}

const MS_PER_SECOND = 1_000;

export function phaseFacts({
  phase,
  p50Seconds,
  p99Seconds,
  maxSeconds,
  cycles,
}: PhaseTiming): PhaseFacts {
  const milliseconds = (seconds: number): number => Math.max(0, finite(seconds) * MS_PER_SECOND);
  return {
    phase: clipped(phase),
    p50Ms: milliseconds(p50Seconds),
    p99Ms: milliseconds(p99Seconds),
    maxMs: milliseconds(maxSeconds),
    cycles: Math.max(0, cycles),
  };
}

export interface ShardRows {
  readonly sessions: readonly SessionFacts[];
  readonly brakes: readonly BrakeFacts[];
  readonly phases: readonly PhaseFacts[];
}

export function shardFacts(status: ShardStatus, rows: ShardRows): ShardFacts {
  const { actuation } = status;
  return {
    epoch: status.shardEpoch,
    startedMs: msOf(status.startedUnixNanos),
    isReady: status.ready,
    isPaused: actuation?.paused ?? false,
    isDryRun: actuation?.dryRun ?? false,
    rails: actuation === undefined ? [] : railWords(actuation),
    version: clipped(status.version),
    providers: status.providers.map(providerFacts),
    ...rows,
  };
}

type Actuation = NonNullable<ShardStatus['actuation']>;

/** What differs from the flags, who changed it and why. */
function railWords(actuation: Actuation): readonly string[] {
  const { overridden, changedBy, reason } = actuation;
  if (overridden.length === 0) return [];
  const values: Readonly<Record<string, string>> = {
    paused: `paused: ${actuation.paused}`,
    dry_run: `dry run: ${actuation.dryRun}`,
    reclaim_cap_fraction: `reclaim cap: ${actuation.reclaimCapFraction}`,
    empty_rollup_guard: `empty roll-up guard: ${actuation.emptyRollupGuard}`,
    max_actions_per_cycle: `actions per cycle: ${actuation.maxActionsPerCycle}`,
  };
  const by = changedBy === '' ? '' : ` by ${changedBy}`;
  const why = reason === '' ? '' : ` (${reason})`;
  return overridden.map((name) => clipped(`${getOwn(values, name) ?? name}${by}${why}`));
}

function providerFacts(summary: ProviderSummary): ProviderFacts {
  return {
    name: clipped(summary.name),
    address: clipped(summary.address),
    source: clipped(summary.source),
    isShared: summary.shared,
    isHealthy: summary.healthy,
    lastListMs: msOf(summary.lastListUnixNanos),
  };
}

export function sessionFacts(view: SessionView): SessionFacts {
  return {
    cluster: clipped(view.clusterId),
    isConnected: view.connected,
    sinceMs: msOf(view.sinceUnixNanos),
    lastRollupMs: msOf(view.lastRollupUnixNanos),
    quarantinedRollups: view.quarantinedRollups,
    identity: clipped(view.presentedIdentity),
    tellsNodes: view.extensions.includes('node-identity'),
    phantoms: view.phantomMachineIds.slice(0, MAX_PHANTOMS).map(clipped),
  };
}

/** Only what is held off: failures that hold nothing yet are no brake. */
export function brakeFacts({ needs, types }: BrakeBatch): readonly BrakeFacts[] {
  const needRows = needs.map(({ clusterId, profileFingerprint, run }) => ({
    subject: `need ${clusterId}/${profileFingerprint}`,
    run,
  }));
  const typeRows = types.map(({ provider, instanceType, run }) => ({
    subject: `type ${provider}/${instanceType}`,
    run,
  }));
  return [...needRows, ...typeRows].flatMap(({ subject, run }) =>
    run === undefined || run.pauseEndsUnixNanos === 0n
      ? []
      : [
          {
            subject: clipped(subject),
            failures: run.failures,
            pauseEndsMs: msOf(run.pauseEndsUnixNanos),
            lastError: clipped(run.lastError),
          },
        ],
  );
}

function stateOf(state: number): StateCode {
  return isStateCode(state) ? state : State.Failed;
}

function capacityTypeOf(type: number): CapacityTypeCode {
  return isCapacityTypeCode(type) ? type : CapacityType.OnDemand;
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function plainTexts(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .slice(0, MAX_REQUIREMENTS)
      .map(([name, value]) => [clipped(name), clipped(value)]),
  );
}

/** As the contract spells it, in small letters. */
export function enumName(values: Readonly<Record<string, number | string>>, value: number): string {
  const name = Object.entries(values).find(([, each]) => each === value)?.[0];
  return name === undefined ? `unknown_${value}` : name.toLowerCase();
}

// What a run came to: one JSON line, and whether the demonstration showed what it promises. A run that
// a person ended early or disturbed is summed up and not judged.

import { stateName } from '@bigfleet/engine';
import type { MachineView } from '@bigfleet/wire';
import type { CoverageReport } from '../feed/coverage.ts';
import type { FleetPicture } from '../feed/fleet-picture.ts';
import type { Transfer } from '../fleet/watch-transfers.ts';
import type { ClusterScene } from '../view/scene.ts';
import { JOINED, providerOf } from '../places.ts';
import type { Counters } from './counters.ts';

export interface Summary {
  readonly seed: string;
  readonly profile: string;
  readonly seconds: number;
  readonly machinesByState: Readonly<Record<string, number>>;
  /** By provider and state, without states that have none. */
  readonly machinesByProvider: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly dollarsPerHour: number;
  /** Needs short of capacity at the end, the unsatisfiable one among them. */
  readonly shortfalls: number;
  /** Machines that each shard owns at the end. */
  readonly machinesByShard: Readonly<Record<string, number>>;
  readonly transfers: { readonly done: number; readonly open: number; readonly aborted: number };
  readonly actionsByKind: Readonly<Record<string, number>>;
  readonly cycles: number;
  /** Upper bound of the slowest cycle's histogram bucket. */
  readonly worstCycleAtMostMs: number;
  readonly needs: CoverageReport;
  /** By cluster, at the end. */
  readonly pods: Readonly<Record<string, PodCounts>>;
  readonly interruptions: number;
  readonly failures: number;
  /** What a person did to the demo, in order. */
  readonly tried: readonly string[];
  readonly shardRestarts: number;
  /** Empty when everything was shown. */
  readonly problems: readonly string[];
}

export interface PodCounts {
  readonly running: number;
  readonly pending: number;
  /** CapacityRequests, and those of them that the shard has. */
  readonly requests: number;
  readonly acknowledged: number;
}

export interface SummaryInput {
  readonly seed: string;
  readonly profile: string;
  readonly ranMs: number;
  readonly shards: readonly ShardInput[];
  readonly coverage: CoverageReport;
  readonly providers: readonly Counters[];
  readonly tried: readonly string[];
  readonly shardRestarts: number;
  readonly transfers: readonly Transfer[];
  readonly clusters: readonly ClusterScene[];
  /** False on a host where nothing can move. */
  readonly expectsMove: boolean;
}

interface ShardInput {
  readonly name: string;
  readonly picture: FleetPicture;
  readonly counters: Counters;
}

export function summarise(input: SummaryInput): Summary {
  const { seed, profile, ranMs, shards, coverage, providers, expectsMove } = input;
  const machines = shards.flatMap(({ picture }) => [...picture.machines.values()]);
  const ofProviders = (name: string): number =>
    providers.reduce((sum, counters) => sum + counters.sum(name), 0);
  const total = (of: (shard: ShardInput) => number): number =>
    shards.reduce((sum, shard) => sum + of(shard), 0);
  const facts = {
    pods: Object.fromEntries(input.clusters.map((cluster) => [cluster.id, podCounts(cluster)])),
    interruptions: ofProviders('bigfleet_simulated_interruptions_total'),
    failures: ofProviders('bigfleet_simulated_failures_total'),
    cycles: total(({ counters }) => counters.sum('bigfleet_shard_cycles_total')),
    needs: coverage,
    transfers: countTransfers(input.transfers),
  };
  const worstSeconds = shards.map(({ counters }) =>
    counters.slowestAtMost('bigfleet_shard_cycle_duration_seconds'),
  );
  return {
    seed,
    profile,
    seconds: Math.round(ranMs / 1_000),
    machinesByState: countByState(machines),
    machinesByProvider: countByProvider(machines),
    machinesByShard: Object.fromEntries(
      shards.map(({ name, picture }) => [name, picture.machines.size]),
    ),
    dollarsPerHour: Math.round(total(({ picture }) => picture.dollarsPerHour) * 100) / 100,
    shortfalls: total(({ picture }) => picture.shortfallCount),
    actionsByKind: actionsOf(shards),
    worstCycleAtMostMs: Math.round(Math.max(...worstSeconds) * 1_000),
    ...facts,
    tried: input.tried,
    shardRestarts: input.shardRestarts,
    problems: [...problemsOf(facts), ...(expectsMove ? moveProblems(facts) : [])],
  };
}

type Facts = Pick<
  Summary,
  'interruptions' | 'failures' | 'cycles' | 'needs' | 'transfers' | 'pods'
>;

function podCounts(cluster: ClusterScene): PodCounts {
  return {
    running: cluster.runningCount,
    pending: cluster.pendingCount,
    requests: cluster.requestCount,
    acknowledged: cluster.acknowledgedCount,
  };
}

/** Not judged for a joined cluster: nobody knows what its owner runs there. */
function podProblems(pods: Summary['pods']): readonly string[] {
  return Object.entries(pods)
    .filter(([cluster]) => cluster !== JOINED)
    .flatMap(([cluster, { running, acknowledged }]) => [
      ...(running === 0 ? [`no Pod runs in ${cluster}`] : []),
      ...(acknowledged === 0 ? [`no CapacityRequest of ${cluster} is acknowledged`] : []),
    ]);
}

function problemsOf({ interruptions, failures, cycles, needs, pods }: Facts): readonly string[] {
  const { coveredCount, neverCovered, unmetTooLong } = needs;
  return [
    ...(cycles === 0 ? ['no cycle ran'] : []),
    ...(coveredCount === 0 ? ['no need was ever covered'] : []),
    ...neverCovered.map((name) => `never covered: ${name}`),
    ...unmetTooLong.map((name) => `unmet for too long: ${name}`),
    ...podProblems(pods),
    ...(interruptions === 0 ? ['no spot interruption happened; run for longer'] : []),
    ...(failures === 0 ? ['no transition failed; run for longer'] : []),
  ];
}

function moveProblems({ transfers }: Facts): readonly string[] {
  return transfers.done > 0 ? [] : ['no machine moved between the shards; run for longer'];
}

function countTransfers(transfers: readonly Transfer[]): Summary['transfers'] {
  const of = (...phases: readonly Transfer['phase'][]): number =>
    transfers.filter(({ phase }) => phases.includes(phase)).length;
  return { done: of('DONE'), open: of('PREPARING', 'COMMITTED'), aborted: of('ABORTED') };
}

function actionsOf(shards: readonly ShardInput[]): Readonly<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const { counters } of shards) {
    const byKind = counters.by('bigfleet_shard_actions_total', 'kind');
    for (const [kind, count] of Object.entries(byKind)) totals[kind] = (totals[kind] ?? 0) + count;
  }
  return totals;
}

/** Of shards that serve different clusters. */
export function sumCoverage(reports: readonly CoverageReport[]): CoverageReport {
  const total = (of: (report: CoverageReport) => number): number =>
    reports.reduce((sum, report) => sum + of(report), 0);
  return {
    seenCount: total(({ seenCount }) => seenCount),
    coveredCount: total(({ coveredCount }) => coveredCount),
    unsatisfiableCount: total(({ unsatisfiableCount }) => unsatisfiableCount),
    neverCovered: reports.flatMap(({ neverCovered }) => neverCovered),
    unmetTooLong: reports.flatMap(({ unmetTooLong }) => unmetTooLong),
  };
}

/** `Idle`, `Configured`, …, in the order of a machine's life; states without machines are 0. */
export function countByState(machines: Iterable<MachineView>): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(STATES.map((name) => [name, 0]));
  for (const { state } of machines) {
    const name = stateName(state);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** By provider, only states with machines. */
export function countByProvider(
  machines: Iterable<MachineView>,
): Record<string, Record<string, number>> {
  const counts: Record<string, Record<string, number>> = {};
  for (const { machineId, state } of machines) {
    const ofProvider = (counts[providerOf(machineId)] ??= {});
    const name = stateName(state);
    ofProvider[name] = (ofProvider[name] ?? 0) + 1;
  }
  return counts;
}

const STATES: readonly string[] = [1, 2, 3, 4, 5, 6, 7, 8].map(stateName);

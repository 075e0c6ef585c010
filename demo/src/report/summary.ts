// What a run came to: one JSON line, and whether the demonstration showed what it promises. A run that
// a person ended early is summed up and not judged.

import { MachineState, type MachineView } from '@bigfleet/wire';
import type { CoverageReport } from '../feed/coverage.ts';
import type { FleetPicture } from '../feed/fleet-picture.ts';
import type { Counters } from './counters.ts';

export interface Summary {
  readonly seed: string;
  readonly seconds: number;
  readonly machinesByState: Readonly<Record<string, number>>;
  readonly dollarsPerHour: number;
  /** Needs short of capacity at the end, the unsatisfiable one among them. */
  readonly shortfalls: number;
  readonly actionsByKind: Readonly<Record<string, number>>;
  readonly cycles: number;
  /** Upper bound of the slowest cycle's histogram bucket. */
  readonly worstCycleAtMostMs: number;
  readonly needs: CoverageReport;
  readonly interruptions: number;
  readonly failures: number;
  /** Empty when everything was shown. */
  readonly problems: readonly string[];
}

export interface SummaryInput {
  readonly seed: string;
  readonly ranMs: number;
  readonly picture: FleetPicture;
  readonly coverage: CoverageReport;
  readonly shard: Counters;
  readonly provider: Counters;
}

export function summarise(input: SummaryInput): Summary {
  const { seed, ranMs, picture, coverage, shard, provider } = input;
  const facts = {
    interruptions: provider.sum('bigfleet_simulated_interruptions_total'),
    failures: provider.sum('bigfleet_simulated_failures_total'),
    cycles: shard.sum('bigfleet_shard_cycles_total'),
    needs: coverage,
  };
  const worstSeconds = shard.slowestAtMost('bigfleet_shard_cycle_duration_seconds');
  return {
    seed,
    seconds: Math.round(ranMs / 1_000),
    machinesByState: countByState(picture.machines.values()),
    dollarsPerHour: Math.round(picture.dollarsPerHour * 100) / 100,
    shortfalls: picture.shortfallCount,
    actionsByKind: shard.by('bigfleet_shard_actions_total', 'kind'),
    worstCycleAtMostMs: Math.round(worstSeconds * 1_000),
    ...facts,
    problems: problemsOf(facts),
  };
}

type Facts = Pick<Summary, 'interruptions' | 'failures' | 'cycles' | 'needs'>;

function problemsOf({ interruptions, failures, cycles, needs }: Facts): readonly string[] {
  const { coveredCount, neverCovered, unmetTooLong } = needs;
  return [
    ...(cycles === 0 ? ['no cycle ran'] : []),
    ...(coveredCount === 0 ? ['no need was ever covered'] : []),
    ...neverCovered.map((name) => `never covered: ${name}`),
    ...unmetTooLong.map((name) => `unmet for too long: ${name}`),
    ...(interruptions === 0 ? ['no spot interruption happened; run for longer'] : []),
    ...(failures === 0 ? ['no transition failed; run for longer'] : []),
  ];
}

/** `Idle`, `Configured`, …, in the order of a machine's life; states without machines are 0. */
export function countByState(machines: Iterable<MachineView>): Record<string, number> {
  const counts = new Map<string, number>([...stateNames.values()].map((name) => [name, 0]));
  for (const { state } of machines) {
    const name = stateNames.get(state) ?? 'Unknown';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

const stateNames: ReadonlyMap<MachineState, string> = new Map([
  [MachineState.SPECULATIVE, 'Speculative'],
  [MachineState.CREATING, 'Creating'],
  [MachineState.IDLE, 'Idle'],
  [MachineState.CONFIGURING, 'Configuring'],
  [MachineState.CONFIGURED, 'Configured'],
  [MachineState.DRAINING, 'Draining'],
  [MachineState.DELETING, 'Deleting'],
  [MachineState.FAILED, 'Failed'],
]);

// Two ways of doing the same work, side by side in one process: ours, reference, reference, ours,
// … so that a slow minute of the machine hits both. Timing one after the other has already
// "proved" both directions of the same comparison.
//
// Each call does the same number of operations. A side may return the latencies of its operations
// (raw, in ms); otherwise a round's duration per operation stands for them in the slowdown.

import type { Extra } from './define-bench.ts';
import { medianInterval } from './median-interval.ts';
import { nearestRank } from './percentiles.ts';

export type Side = () => SideResult | Promise<SideResult>;
export type SideResult = void | Iterable<number>;

export interface InterleavedOptions {
  readonly ours: Side;
  readonly reference: Side;
  readonly rounds: number;
  /** Operations that one call of a side performs, the same for both. 1 when absent. */
  readonly opsPerRound?: number;
  /** Rounds that are run and thrown away. 2 when absent. */
  readonly warmupRounds?: number;
  readonly nowMs?: () => number;
}

export interface Interleaved extends Extra {
  /** Our throughput ÷ the reference's: median over rounds. Above 1 we are faster. */
  readonly ratio: number;
  readonly ratioLow: number;
  readonly ratioHigh: number;
  /** Our p99 ÷ the reference's p99. With ours = loaded, reference = unloaded: loaded ÷ unloaded. */
  readonly slowdown: number;
  readonly oursOpsPerSecond: number;
  readonly referenceOpsPerSecond: number;
  readonly oursP50Ms: number;
  readonly referenceP50Ms: number;
  readonly oursP99Ms: number;
  readonly referenceP99Ms: number;
}

interface SideRecord {
  readonly run: Side;
  readonly roundMs: number[];
  readonly latenciesMs: number[];
}

export async function compareInterleaved(options: InterleavedOptions): Promise<Interleaved> {
  const { rounds, opsPerRound = 1, warmupRounds = 2, nowMs = () => performance.now() } = options;
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('rounds must be at least 1');
  const ours: SideRecord = { run: options.ours, roundMs: [], latenciesMs: [] };
  const reference: SideRecord = { run: options.reference, roundMs: [], latenciesMs: [] };

  for (let round = -warmupRounds; round < rounds; round++) {
    const order = round % 2 === 0 ? [ours, reference] : [reference, ours];
    for (const side of order) await runRound(side, { timed: round >= 0, opsPerRound, nowMs });
  }
  return summarise(ours, reference, opsPerRound);
}

interface RoundOptions {
  readonly timed: boolean;
  readonly opsPerRound: number;
  readonly nowMs: () => number;
}

async function runRound(
  side: SideRecord,
  { timed, opsPerRound, nowMs }: RoundOptions,
): Promise<void> {
  const startMs = nowMs();
  const returned = side.run();
  const latencies = returned instanceof Promise ? await returned : returned;
  const elapsedMs = nowMs() - startMs;
  if (!timed) return;
  side.roundMs.push(elapsedMs);
  if (latencies) for (const latencyMs of latencies) side.latenciesMs.push(latencyMs);
  else side.latenciesMs.push(elapsedMs / opsPerRound);
}

function summarise(ours: SideRecord, reference: SideRecord, opsPerRound: number): Interleaved {
  const ratios = ours.roundMs.map((oursMs, round) => (reference.roundMs[round] ?? 0) / oursMs);
  const interval = medianInterval(ratios);
  const oursSorted = Float64Array.from(ours.latenciesMs).sort();
  const referenceSorted = Float64Array.from(reference.latenciesMs).sort();
  const oursP99Ms = nearestRank(oursSorted, 99);
  const referenceP99Ms = nearestRank(referenceSorted, 99);
  return {
    ratio: interval.median,
    ratioLow: interval.low,
    ratioHigh: interval.high,
    slowdown: oursP99Ms / referenceP99Ms,
    oursOpsPerSecond: throughput(ours, opsPerRound),
    referenceOpsPerSecond: throughput(reference, opsPerRound),
    oursP50Ms: nearestRank(oursSorted, 50),
    referenceP50Ms: nearestRank(referenceSorted, 50),
    oursP99Ms,
    referenceP99Ms,
  };
}

function throughput(side: SideRecord, opsPerRound: number): number {
  return (opsPerRound * 1_000) / medianInterval(side.roundMs).median;
}

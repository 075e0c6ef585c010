// A run in phases, without a reader, with one, without, with the other, …: what a phase with a reader costs is
// divided by the mean of the two phases without one around it, so that a machine that gets slower or busier
// during the run does so on both sides of the fraction. The estimate is the median of these ratios with a
// distribution-free interval (bench/harness/median-interval.ts): nothing is assumed about the noise.

import type { Extra } from '../../harness/index.ts';
import { medianInterval } from '../../harness/median-interval.ts';
import { percentiles } from '../../harness/percentiles.ts';

export const SIDES = ['detached', 'fast', 'slow'] as const;
export type Side = (typeof SIDES)[number];

export interface MeasuredPhase {
  readonly side: Side;
  /** Of the shard's process, all threads. */
  readonly cpuMsPerCycle: number;
  /** Raw, of every cycle without a safety pass. */
  readonly cyclesMs: Float64Array;
}

/** Detached at both ends and between any two readers; which reader comes first alternates. */
export function phaseOrder(rounds: number): readonly Side[] {
  const order: Side[] = ['detached'];
  for (let round = 0; round < rounds; round++) {
    const readers = round % 2 === 0 ? (['fast', 'slow'] as const) : (['slow', 'fast'] as const);
    for (const reader of readers) order.push(reader, 'detached');
  }
  return order;
}

export function comparePhases(phases: readonly MeasuredPhase[]): Extra {
  const extra: Record<string, number | string | boolean> = {};
  for (const side of SIDES) {
    const own = phases.filter((phase) => phase.side === side);
    const pooled = percentiles(Float64Array.from(own.flatMap(({ cyclesMs }) => [...cyclesMs])));
    extra[`${side}CycleP50Ms`] = pooled.p50;
    extra[`${side}CycleP99Ms`] = pooled.p99;
    extra[`${side}CycleMaxMs`] = pooled.max;
    extra[`${side}CycleCount`] = own.reduce((sum, { cyclesMs }) => sum + cyclesMs.length, 0);
    extra[`${side}CpuMsPerCycle`] = medianInterval(own.map(cpuOf)).median;
    extra[`${side}CpuMsPerCycleRaw`] = own.map((phase) => cpuOf(phase).toFixed(3)).join(' ');
    if (side === 'detached') continue;
    Object.assign(extra, ratios(phases, side, 'Cpu', cpuOf), ratios(phases, side, 'Cycle', p50Of));
  }
  return extra;
}

function ratios(
  phases: readonly MeasuredPhase[],
  side: Side,
  what: string,
  valueOf: (phase: MeasuredPhase) => number,
): Extra {
  const found: number[] = [];
  phases.forEach((phase, at) => {
    if (phase.side !== side) return;
    const [before, after] = [phases[at - 1], phases[at + 1]];
    if (before?.side !== 'detached' || after?.side !== 'detached') {
      throw new Error(`phase ${at} has no phase without a reader on either side`);
    }
    found.push((2 * valueOf(phase)) / (valueOf(before) + valueOf(after)));
  });
  const { median, low, high, confident } = medianInterval(found);
  const name = `${side}${what}Ratio`;
  return {
    [name]: median,
    [`${name}Low`]: low,
    [`${name}High`]: high,
    [`${name}Confident`]: confident,
    [`${name}Raw`]: found.map((ratio) => ratio.toFixed(4)).join(' '),
  };
}

function cpuOf({ cpuMsPerCycle }: MeasuredPhase): number {
  return cpuMsPerCycle;
}

function p50Of({ cyclesMs }: MeasuredPhase): number {
  return percentiles(cyclesMs).p50;
}

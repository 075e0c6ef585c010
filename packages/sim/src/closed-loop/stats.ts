// What a closed loop reports per cycle, and when it has come to rest.

import type { ActionCounts } from '../step.ts';

export interface CycleStats extends ActionCounts {
  readonly cycle: number;
  /** Sum of the five action counts. */
  readonly churn: number;
  readonly configured: number;
  readonly boundPods: number;
  readonly pendingPods: number;
  readonly livePods: number;
  /** Pods that died with their machine in this cycle. */
  readonly evicted: number;
  /** Machines that a fault took in this cycle. */
  readonly lost: number;
  readonly shortfalls: number;
  /** Reclaims of a machine that an unsatisfied need could match: 0 in steady state, always. */
  readonly reclaimMatchesShortfall: number;
  /** Gangs that chose another domain than in the cycle before. */
  readonly domainChanges: number;
}

/** Churn 0 and a constant number of shortfalls over the trailing cycles. */
export function isConverged(stats: readonly CycleStats[], trailing: number): boolean {
  const tail = stats.slice(-trailing);
  const first = tail[0];
  if (first === undefined || tail.length < trailing) return false;
  return tail.every(({ churn, shortfalls }) => churn === 0 && shortfalls === first.shortfalls);
}

/** Cycles until nothing happened any more; 0 when nothing ever did. */
export function cyclesToQuiet(stats: readonly CycleStats[]): number {
  return stats.findLastIndex(({ churn }) => churn > 0) + 1;
}

export type StatName = Exclude<keyof CycleStats, 'cycle'>;

export function total(stats: readonly CycleStats[], name: StatName): number {
  return stats.reduce((sum, cycle) => sum + cycle[name], 0);
}

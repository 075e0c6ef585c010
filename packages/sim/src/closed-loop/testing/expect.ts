// Assertions on closed loops that name the loop, its seed and what it did, so that a failure can
// be replayed and read without a debugger.

import assert from 'node:assert/strict';
import { printSeed } from '../../seeds.ts';
import type { ClosedLoop } from '../closed-loop.ts';
import { type CycleStats, isConverged, type StatName, total } from '../stats.ts';

/** Dwells of create, configure and drain: instant hides oscillations, so it never stands alone. */
export const DWELLS: readonly DwellPlan[] = [
  { provisionDwellCycles: 0, bootstrapDwellCycles: 0, drainDwellCycles: 0 },
  { provisionDwellCycles: 2, bootstrapDwellCycles: 1, drainDwellCycles: 1 },
  { provisionDwellCycles: 1, bootstrapDwellCycles: 3, drainDwellCycles: 2 },
  { provisionDwellCycles: 5, bootstrapDwellCycles: 4, drainDwellCycles: 6 },
];

export interface DwellPlan {
  readonly provisionDwellCycles: number;
  readonly bootstrapDwellCycles: number;
  readonly drainDwellCycles: number;
}

export function printDwell(plan: DwellPlan): string {
  const { provisionDwellCycles, bootstrapDwellCycles, drainDwellCycles } = plan;
  return `create ${provisionDwellCycles}, configure ${bootstrapDwellCycles}, drain ${drainDwellCycles}`;
}

export function expectEqual<T>(loop: ClosedLoop, got: T, want: T, what: string): void {
  assert.deepEqual(got, want, story(loop, `${what}: ${String(got)}, not ${String(want)}`));
}

export function expectTrue(loop: ClosedLoop, isTrue: boolean, what: string): void {
  assert.ok(isTrue, story(loop, what));
}

/** Sum of one statistic over the whole run. */
export function expectTotal(loop: ClosedLoop, name: StatName, want: number): void {
  expectEqual(loop, total(loop.stats, name), want, `total ${name}`);
}

/** Churn 0, constant shortfalls, and no reclaim that an unmet need would have wanted. */
export function expectConverged(loop: ClosedLoop, trailing: number): void {
  expectTrue(loop, isConverged(loop.stats, trailing), `not at rest for ${trailing} cycles`);
  const probe = total(loop.stats.slice(-trailing), 'reclaimMatchesShortfall');
  expectEqual(loop, probe, 0, 'reclaims that match a shortfall');
}

export function lastOf(loop: ClosedLoop): CycleStats {
  const last = loop.stats.at(-1);
  assert.ok(last !== undefined, 'the loop has not run');
  return last;
}

/** The cycles in which anything happened, newest last. */
function story(loop: ClosedLoop, what: string): string {
  const busy = loop.stats
    .filter(({ churn }) => churn > 0)
    .map((stats) => {
      const { cycle, bootstraps, provisions, reclaims, preempts, deletes } = stats;
      return `${cycle}: +${bootstraps}b +${provisions}p -${reclaims}r -${preempts}x -${deletes}d`;
    });
  return `${loop.plan.name}, ${printSeed(loop.seed)}: ${what}\n  ${busy.slice(-40).join('\n  ')}`;
}

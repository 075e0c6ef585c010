// What a shard may do at the moment, who decided so, and since when (decision 18).

import { ActuationHold, type ActuationState } from '@bigfleet/wire';
import { utcTime } from '../output/texts.ts';
import { enumName } from './enum-name.ts';

export interface ActuationRow {
  readonly paused: boolean;
  /** What holds the pause: flag, runtime, fenced. */
  readonly heldBy: readonly string[];
  readonly dryRun: boolean;
  readonly reclaimCapFraction: number;
  readonly emptyRollupGuard: boolean;
  readonly maxActionsPerCycle: number;
  /** Settings that were changed at run time and win over the flags. */
  readonly overridden: readonly string[];
  readonly changedBy: string;
  readonly changed: string | null;
  readonly reason: string;
}

export function actuationRow(state: ActuationState): ActuationRow {
  return {
    paused: state.paused,
    heldBy: state.heldBy.map((hold) => enumName(ActuationHold, hold)),
    dryRun: state.dryRun,
    reclaimCapFraction: state.reclaimCapFraction,
    emptyRollupGuard: state.emptyRollupGuard,
    maxActionsPerCycle: state.maxActionsPerCycle,
    overridden: state.overridden,
    changedBy: state.changedBy,
    changed: utcTime(state.changedUnixNanos) ?? null,
    reason: state.reason,
  };
}

/** `paused(flag,runtime)`, `dry run`, `active`; with what was changed by whom and when. */
export function actuationText(row: ActuationRow): string {
  const mode = row.paused ? `paused(${row.heldBy.join(',')})` : row.dryRun ? 'dry run' : 'active';
  if (row.changed === null || row.overridden.length === 0) return mode;
  const what = row.overridden.join(',');
  return `${mode} [${what} by ${row.changedBy || 'unknown'} ${row.changed}]`;
}

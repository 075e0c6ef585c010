// What a trace says, as plain values: the state a run started from, every input that reached the
// engine since, and after each cycle what it decided. And how a trace can end.

import type { Brakes } from '../model/brakes.ts';
import type { CycleOptions } from '../cycle/engine.ts';
import type { Shortfall } from '../model/cycle.ts';
import type { Action } from '../model/action.ts';
import type { ReleasePolicy } from '../model/capacity-type.ts';
import type { Machine, Withheld } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import type { StateCode } from '../model/state.ts';
import type { MoveChanges } from '../store/inventory.ts';
import type { ActionHash } from './action-hash.ts';

export type TraceEntry =
  | { readonly kind: 'put'; readonly machine: Machine; readonly nowMs: number }
  | { readonly kind: 'remove'; readonly id: string }
  | {
      readonly kind: 'move';
      readonly id: string;
      readonly to: StateCode;
      readonly changes: MoveChanges;
      readonly nowMs: number;
    }
  | { readonly kind: 'withhold'; readonly id: string; readonly reason: Withheld | undefined }
  | { readonly kind: 'idle_since'; readonly id: string; readonly sinceMs: number }
  | { readonly kind: 'rollup'; readonly cluster: string; readonly needs: readonly Need[] }
  | { readonly kind: 'reported'; readonly cluster: string }
  | { readonly kind: 'held_off'; readonly heldOff: ReadonlySet<string> }
  | { readonly kind: 'brakes'; readonly brakes: Brakes }
  | { readonly kind: 'release_policy'; readonly policy: ReleasePolicy }
  | { readonly kind: 'cycle'; readonly options: CycleOptions }
  | { readonly kind: 'decided'; readonly decided: Decided }
  | SnapshotEntry;

/** Only in front of the first cycle, besides puts, reports, held-off pairs, brakes and the policy. */
export type SnapshotEntry =
  | { readonly kind: 'demand'; readonly cluster: string; readonly needs: readonly Need[] }
  | { readonly kind: 'parking'; readonly needKey: string; readonly ageCycles: number }
  | { readonly kind: 'shortfall'; readonly fingerprint: string; readonly shortfall: Shortfall }
  | { readonly kind: 'snapshot_end'; readonly machineCount: number; readonly rowCount: number };

/** An action without its reason, which follows from its kind. */
export type DecidedAction = Omit<Action, 'reason'>;

export interface Decided {
  readonly hash: ActionHash;
  readonly actionCount: number;
  /** Absent when there were more than a trace keeps. */
  readonly actions: readonly DecidedAction[] | undefined;
}

/** How reading ended. Whatever was yielded before is intact and in order. */
export type TraceEnd =
  /** The recorder closed the trace. */
  | { readonly kind: 'closed' }
  /** The recorder met something that a trace cannot hold; the run went on without it. */
  | { readonly kind: 'abandoned'; readonly reason: string }
  /** Ends between two frames: the run still goes on, or the process was killed. */
  | { readonly kind: 'open' }
  /** Ends inside the frame at `offset`: the last write did not finish. */
  | { readonly kind: 'torn'; readonly offset: number }
  | { readonly kind: 'corrupt'; readonly offset: number; readonly problem: string }
  | { readonly kind: 'unsupported_version'; readonly version: number }
  | { readonly kind: 'not_a_trace' };

export function describeEnd(end: TraceEnd | undefined): string {
  if (end === undefined) return 'not read to its end';
  switch (end.kind) {
    case 'closed':
      return 'complete';
    case 'abandoned':
      return `recording was given up: ${end.reason}`;
    case 'open':
      return 'not closed by its recorder';
    case 'torn':
      return `torn in the frame at byte ${end.offset}`;
    case 'corrupt':
      return `corrupt in the frame at byte ${end.offset}: ${end.problem}`;
    case 'unsupported_version':
      return `written in version ${end.version} of the format, which this build cannot read`;
    case 'not_a_trace':
      return 'not a trace';
  }
}

// What a cycle decides: five kinds of action, each a value that is validated again before it
// is executed. Every action starts in a stable state.

import type { ActionReason } from '@bigfleet/base';
import { State, type StateCode } from './state.ts';

export const ActionKind = {
  Bootstrap: 1,
  Provision: 2,
  Reclaim: 3,
  Preempt: 4,
  Delete: 5,
} as const;

export type ActionKindCode = 1 | 2 | 3 | 4 | 5;

export function isActionKind(kind: number): kind is ActionKindCode {
  return Number.isInteger(kind) && kind >= ActionKind.Bootstrap && kind <= ActionKind.Delete;
}

const NAMES: readonly string[] = ['', ...Object.keys(ActionKind)];

export function actionKindName(kind: number): string {
  return NAMES[kind] ?? `ActionKind(${kind})`;
}

const startStates: Readonly<Record<ActionKindCode, StateCode>> = {
  [ActionKind.Bootstrap]: State.Idle,
  [ActionKind.Provision]: State.Speculative,
  [ActionKind.Reclaim]: State.Configured,
  [ActionKind.Preempt]: State.Configured,
  [ActionKind.Delete]: State.Idle,
};

/** The state that the machine must still be in when the action is dispatched. */
export function startStateOf(kind: ActionKindCode): StateCode {
  return startStates[kind];
}

const reasons = {
  [ActionKind.Bootstrap]: 'phase1.idle',
  [ActionKind.Provision]: 'phase1.speculative',
  [ActionKind.Reclaim]: 'phase3.excess',
  [ActionKind.Preempt]: 'phase2.inversion',
  [ActionKind.Delete]: 'phase3.release',
} as const;

export function reasonOf(kind: ActionKindCode): ActionReason {
  return reasons[kind];
}

/** Bootstrap or Provision: the action names the need that it serves. */
export function isAcquisition(kind: number): boolean {
  return kind === ActionKind.Bootstrap || kind === ActionKind.Provision;
}

export interface Action {
  readonly kind: ActionKindCode;
  readonly machineId: string;
  /** Destination of Bootstrap and Provision, source of Reclaim and Preempt, empty for Delete. */
  readonly cluster: string;
  /** Of the need that is served; empty for Reclaim, Preempt and Delete. */
  readonly fingerprint: string;
  readonly group: string;
  readonly graceSeconds: number;
  /** Priority of the need that preempts; 0 otherwise. */
  readonly preemptorPriority: number;
  readonly reason: ActionReason;
}

/** A voluntary reclaim always has the longest grace. */
export const RECLAIM_GRACE_SECONDS = 600;

/** Locked: the wider the gap, the shorter the notice. Strict comparisons. */
export function drainGraceSeconds(priorityGap: number): number {
  if (priorityGap > 900_000) return 10;
  if (priorityGap > 500_000) return 30;
  return priorityGap > 100_000 ? 120 : RECLAIM_GRACE_SECONDS;
}

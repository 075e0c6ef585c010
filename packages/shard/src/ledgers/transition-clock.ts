// Since when each machine is in a transitional state, for phase timers and for the age of the
// oldest (shard §9.6, §12.5). It hears every applied change, from executors and from reconcile
// alike: with asynchronous providers the worker never sees the end. It only measures: no decision
// depends on it.
//
// A machine that was already under way when this process learned of it has an age from then on, but
// its phase is never observed: when it began is unknown.
// Bound: one entry per machine in a transitional state. Cost: O(1) per change and per question.

import { State, type StateCode } from '@bigfleet/engine';

export type TransitionalState =
  | typeof State.Creating
  | typeof State.Configuring
  | typeof State.Draining
  | typeof State.Deleting;

export const TRANSITIONAL: readonly TransitionalState[] = [
  State.Creating,
  State.Configuring,
  State.Draining,
  State.Deleting,
];

export interface Underway {
  readonly machineId: string;
  readonly sinceMs: number;
}

interface Stamp {
  readonly sinceMs: number;
  readonly isWhole: boolean;
}

type Stamps = Map<string, Stamp>;

export class TransitionClock {
  /** Insertion is in the order of time, so the first is the oldest. */
  readonly #byState: Readonly<Record<TransitionalState, Stamps>> = {
    [State.Creating]: new Map(),
    [State.Configuring]: new Map(),
    [State.Draining]: new Map(),
    [State.Deleting]: new Map(),
  };

  entered(machineId: string, state: TransitionalState, nowMs: number, isWhole: boolean): void {
    const stamps = this.#byState[state];
    stamps.delete(machineId);
    stamps.set(machineId, { sinceMs: nowMs, isWhole });
  }

  /** When it began; undefined when that is not known. */
  left(machineId: string, state: TransitionalState): number | undefined {
    const stamp = this.#byState[state].get(machineId);
    this.#byState[state].delete(machineId);
    return stamp?.isWhole === true ? stamp.sinceMs : undefined;
  }

  oldest(state: TransitionalState): Underway | undefined {
    for (const [machineId, { sinceMs }] of this.#byState[state]) return { machineId, sinceMs };
    return undefined;
  }
}

export function isTransitional(state: StateCode | undefined): state is TransitionalState {
  return TRANSITIONAL.some((transitional) => transitional === state);
}

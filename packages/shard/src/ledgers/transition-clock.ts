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
  /** Where the age counts from. */
  readonly sinceMs: number;
  /** When the machine entered the state; undefined when this process did not see it. */
  readonly enteredMs: number | undefined;
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

  /** `isSeen`: it came from another state before our eyes. */
  entered(machineId: string, state: TransitionalState, nowMs: number, isSeen: boolean): void {
    this.#stamp(machineId, state, nowMs, isSeen ? nowMs : undefined);
  }

  /** Its age counts from now on: a drain's, when the provider's part begins. */
  restarted(machineId: string, state: TransitionalState, nowMs: number): void {
    this.#stamp(machineId, state, nowMs, this.#byState[state].get(machineId)?.enteredMs);
  }

  /** When it entered; undefined when that is not known. */
  left(machineId: string, state: TransitionalState): number | undefined {
    const stamp = this.#byState[state].get(machineId);
    this.#byState[state].delete(machineId);
    return stamp?.enteredMs;
  }

  oldest(state: TransitionalState): Underway | undefined {
    for (const [machineId, { sinceMs }] of this.#byState[state]) return { machineId, sinceMs };
    return undefined;
  }

  #stamp(
    machineId: string,
    state: TransitionalState,
    sinceMs: number,
    enteredMs: number | undefined,
  ): void {
    const stamps = this.#byState[state];
    stamps.delete(machineId);
    stamps.set(machineId, { sinceMs, enteredMs });
  }
}

export function isTransitional(state: StateCode | undefined): state is TransitionalState {
  return TRANSITIONAL.some((transitional) => transitional === state);
}

// Since when each machine is in its state, for readers. By slot, so that half a million machines
// take a few megabytes; a slot that was given to another machine starts anew. In memory only: after
// a restart the state counts from when this process learned of it.

import type { Clock } from '@bigfleet/base';
import type { Fleet } from '../fleet/fleet.ts';

const FIRST_CAPACITY = 1_024;

export class StateTimes {
  readonly #clock: Clock;
  #sinceUnixNanos: BigInt64Array = new BigInt64Array(FIRST_CAPACITY);
  #states: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  #generations: Uint16Array = new Uint16Array(FIRST_CAPACITY);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** After every write of the machine. */
  note(fleet: Fleet, slot: number): void {
    this.#reserve(slot + 1);
    const { generation } = fleet.handleOf(slot);
    const state = fleet.stateOf(slot);
    if (this.#states[slot] === state && this.#generations[slot] === generation) return;
    this.#states[slot] = state;
    this.#generations[slot] = generation;
    this.#sinceUnixNanos[slot] = this.#clock.unixNanos();
  }

  sinceUnixNanos(slot: number): bigint {
    return this.#sinceUnixNanos[slot] ?? 0n;
  }

  #reserve(slots: number): void {
    if (slots <= this.#states.length) return;
    const capacity = Math.max(slots, this.#states.length * 2);
    const since = new BigInt64Array(capacity);
    since.set(this.#sinceUnixNanos);
    this.#sinceUnixNanos = since;
    const states = new Uint8Array(capacity);
    states.set(this.#states);
    this.#states = states;
    const generations = new Uint16Array(capacity);
    generations.set(this.#generations);
    this.#generations = generations;
  }
}

// Which bytes of which trace may still be written. A trace with a hole is worthless behind it, so a
// lost part ends its trace, and another one is asked for: not more often than once a minute, because
// each begins with the whole fleet. Traces are numbered, so that the failure of an old one that is
// noticed late does not end its successor.

import type { Clock } from '@bigfleet/base';

const RETRY_MS = 60_000;

export class TraceTrack {
  readonly #clock: Clock;
  /** Undefined: there are no traces. */
  #rotate: (() => void) | undefined;
  #number = 0;
  /** This one and all before it are broken. */
  #brokenNumber = 0;
  #isRotating = false;
  #rotatedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, rotate: (() => void) | undefined) {
    this.#clock = clock;
    this.#rotate = rotate;
  }

  /** The number of the trace that the part belongs to; undefined when it cannot be used. */
  admit(isStart: boolean): number | undefined {
    if (this.#rotate === undefined) return undefined;
    if (isStart) {
      this.#number += 1;
      this.#isRotating = false;
    }
    return this.#isBroken ? undefined : this.#number;
  }

  /** A part of this trace was lost. */
  broke(number: number): void {
    this.#brokenNumber = Math.max(this.#brokenNumber, number);
  }

  /** After every cycle: a broken trace gets a successor. */
  heal(): void {
    if (!this.#isBroken) return;
    if (this.#clock.monotonicMs() - this.#rotatedAtMs >= RETRY_MS) this.#ask();
  }

  /** The trace is long enough; it goes on until its successor begins. */
  full(number: number): void {
    if (number === this.#number) this.#ask();
  }

  /** No more traces in this process. */
  giveUp(): void {
    this.#rotate = undefined;
  }

  get #isBroken(): boolean {
    return this.#number <= this.#brokenNumber;
  }

  #ask(): void {
    if (this.#isRotating || this.#rotate === undefined) return;
    this.#isRotating = true;
    this.#rotatedAtMs = this.#clock.monotonicMs();
    this.#rotate();
  }
}

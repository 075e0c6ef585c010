// Which instruction ids were given to which cluster, so that an ack can be believed or dropped. An
// id outlives its drain by a minute: acks for it are then late, not forged.
//
// Bound: MAX_ISSUED ids, the oldest forgotten first.

import type { Timer, TimerWheel } from '@bigfleet/base';

const MAX_ISSUED = 500_000;
const AFTERLIFE_MS = 60_000;

export interface IssuedInstruction {
  readonly cluster: string;
  readonly machineId: string;
  /** As written into the instruction. */
  readonly node: string;
}

interface Entry extends IssuedInstruction {
  readonly timer: Timer;
}

export class IssuedInstructions {
  readonly #wheel: TimerWheel;
  readonly #byId = new Map<string, Entry>();

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Issuing again under the same id renews it. */
  add(id: string, issued: IssuedInstruction, graceMs: number): void {
    this.#byId.get(id)?.timer.cancel();
    if (this.#byId.size >= MAX_ISSUED) this.#deleteOldest();
    const timer = this.#wheel.after(graceMs + AFTERLIFE_MS, () => this.#byId.delete(id));
    this.#byId.set(id, { ...issued, timer });
  }

  /** Undefined for an id that this cluster was never given. */
  find(id: string, cluster: string): IssuedInstruction | undefined {
    const entry = this.#byId.get(id);
    return entry?.cluster === cluster ? entry : undefined;
  }

  stop(): void {
    for (const { timer } of this.#byId.values()) timer.cancel();
    this.#byId.clear();
  }

  #deleteOldest(): void {
    for (const [id, { timer }] of this.#byId) {
      timer.cancel();
      this.#byId.delete(id);
      return;
    }
  }
}

// When an accepted transition ends. Asynchronous by default, because a fake that settles at once
// hid three production bugs; `instant` is for tests that look at something else. A staged kind
// waits for `complete`, also in instant mode: effects apply only at the stable state.

import type { Runtime, Timer } from '@bigfleet/base';
import type { OperationKind } from './fake-machine.ts';

export interface PaceOptions {
  /** Land in the stable state at once. */
  readonly instantTransitions?: boolean;
  /** How long a transition takes otherwise. */
  readonly latencyMs?: number;
  readonly createStaged?: boolean;
  readonly configureStaged?: boolean;
  readonly drainStaged?: boolean;
  /** Dwell in Creating, ended by a ticker; implies createStaged. */
  readonly createLatencyMs?: number | undefined;
}

const DEFAULT_LATENCY_MS = 20;
const MIN_TICK_MS = 100;
const MAX_TICK_MS = 500;

interface Waiting {
  readonly kind: OperationKind;
  readonly sinceMs: number;
  readonly settle: () => void;
}

export class Pace {
  readonly #runtime: Runtime;
  readonly #options: PaceOptions;
  readonly #staged = new Map<string, Waiting>();
  readonly #running = new Map<string, Timer>();
  #ticker: Timer | undefined;

  constructor(runtime: Runtime, options: PaceOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Calls `settle` once, at once or later; a later transition of the machine replaces it. */
  start(machineId: string, kind: OperationKind, settle: () => void): void {
    this.forget(machineId);
    if (this.#isStaged(kind)) {
      const sinceMs = this.#runtime.clock.monotonicMs();
      this.#staged.set(machineId, { kind, sinceMs, settle });
      this.#armTicker();
    } else if (this.#options.instantTransitions === true) {
      settle();
    } else {
      const timer = this.#runtime.timers.after(
        this.#options.latencyMs ?? DEFAULT_LATENCY_MS,
        () => {
          this.#running.delete(machineId);
          settle();
        },
      );
      this.#running.set(machineId, timer);
    }
  }

  /** Ends the staged transition of a machine; false when it has none. */
  complete(machineId: string): boolean {
    const waiting = this.#staged.get(machineId);
    this.#staged.delete(machineId);
    waiting?.settle();
    return waiting !== undefined;
  }

  forget(machineId: string): void {
    this.#staged.delete(machineId);
    this.#running.get(machineId)?.cancel();
    this.#running.delete(machineId);
  }

  /** No transition settles after this. */
  close(): void {
    this.#ticker?.cancel();
    for (const timer of this.#running.values()) timer.cancel();
    this.#running.clear();
    this.#staged.clear();
  }

  #isStaged(kind: OperationKind): boolean {
    const { createStaged, configureStaged, drainStaged, createLatencyMs } = this.#options;
    if (kind === 'create') return createStaged === true || createLatencyMs !== undefined;
    if (kind === 'configure') return configureStaged === true;
    return kind === 'drain' && drainStaged === true;
  }

  #armTicker(): void {
    const { createLatencyMs } = this.#options;
    if (createLatencyMs === undefined || this.#ticker !== undefined) return;
    const tickMs = Math.min(MAX_TICK_MS, Math.max(MIN_TICK_MS, createLatencyMs));
    this.#ticker = this.#runtime.timers.after(tickMs, () => {
      this.#ticker = undefined;
      this.#settleDue(createLatencyMs);
      if (this.#hasCreating()) this.#armTicker();
    });
  }

  #settleDue(createLatencyMs: number): void {
    const nowMs = this.#runtime.clock.monotonicMs();
    for (const [machineId, { kind, sinceMs }] of this.#staged) {
      if (kind === 'create' && nowMs - sinceMs >= createLatencyMs) this.complete(machineId);
    }
  }

  #hasCreating(): boolean {
    for (const { kind } of this.#staged.values()) if (kind === 'create') return true;
    return false;
  }
}

// Times the engine's phases from outside: the engine has no clock and only says when a phase is over.
// The time before the first phase and after the last (input, ledgers, record, trace) belongs to none.

import type { EnginePhase } from '@bigfleet/engine';
import type { PhaseTimes } from './answer.ts';

export class PhaseStopwatch {
  readonly #monotonicMs: () => number;
  #tookMs: Record<EnginePhase, number> = { phase1: 0, phase2: 0, phase3: 0 };
  #lastMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  start(): void {
    this.#tookMs = { phase1: 0, phase2: 0, phase3: 0 };
    this.#lastMs = this.#monotonicMs();
  }

  phaseEnded(phase: EnginePhase): void {
    const nowMs = this.#monotonicMs();
    this.#tookMs[phase] += nowMs - this.#lastMs;
    this.#lastMs = nowMs;
  }

  /** Since `start`. */
  take(): PhaseTimes {
    return this.#tookMs;
  }
}

// When roll-ups are built in one session: at once after the hello ack, then every interval on a grid
// that does not drift, and, where it is switched on, early after a change with a least spacing. As
// long as no roll-up could be built, a change always counts: it may be the one that completes the
// cluster's first list. Building is synchronous, so two never overlap; one that overran its interval skips the
// ticks it missed. A failing cycle waits for the next tick and never ends the session.

import type { Timer } from '@bigfleet/base';
import type { OperatorContext } from './context.ts';
import { rethrowBug } from './supervisor.ts';
import { initialRollupFailed, rollupFailed } from './log-messages.ts';
import type { PendingRollup } from './outbound.ts';
import { type RollupBuilder, rollupFailureText } from './rollup-builder.ts';

type LoopContext = Pick<OperatorContext, 'runtime' | 'settings' | 'logger'>;

/** Between early attempts while none succeeded. */
const FIRST_SPACING_MS = 1_000;

export class RollupLoop {
  readonly #context: LoopContext;
  readonly #builder: RollupBuilder;
  readonly #enqueue: (rollup: PendingRollup) => void;
  #tick: Timer | undefined;
  #early: Timer | undefined;
  #nextTickMs = 0;
  #lastAttemptMs = 0;
  #hasBuilt = false;
  #isRunning = false;

  constructor(
    context: LoopContext,
    builder: RollupBuilder,
    enqueue: (rollup: PendingRollup) => void,
  ) {
    this.#context = context;
    this.#builder = builder;
    this.#enqueue = enqueue;
  }

  start(): void {
    this.#isRunning = true;
    this.#nextTickMs = this.#context.runtime.clock.monotonicMs();
    this.#onTick();
  }

  demandChanged(): void {
    if (!this.#isRunning || this.#early !== undefined) return;
    const { runtime, settings } = this.#context;
    const nowMs = runtime.clock.monotonicMs();
    const spacingMs = this.#hasBuilt ? (settings.onChangeSpacingMs ?? Infinity) : FIRST_SPACING_MS;
    const dueMs = this.#lastAttemptMs + spacingMs;
    // A tick that comes first does the same.
    if (dueMs >= this.#nextTickMs) return;
    this.#early = runtime.timers.after(dueMs - nowMs, () => {
      this.#early = undefined;
      this.#build(false);
    });
  }

  stop(): void {
    this.#isRunning = false;
    this.#tick?.cancel();
    this.#early?.cancel();
  }

  #onTick(): void {
    this.#build(true);
    const { runtime, settings } = this.#context;
    const { rollupIntervalMs: intervalMs } = settings;
    const nowMs = runtime.clock.monotonicMs();
    const missed = Math.floor((nowMs - this.#nextTickMs) / intervalMs);
    this.#nextTickMs += (missed + 1) * intervalMs;
    this.#tick = runtime.timers.after(this.#nextTickMs - nowMs, () => this.#onTick());
  }

  #build(isPeriodic: boolean): void {
    const { runtime, logger } = this.#context;
    this.#lastAttemptMs = runtime.clock.monotonicMs();
    try {
      this.#builder.build(isPeriodic, this.#enqueue);
      this.#hasBuilt = true;
    } catch (thrown) {
      rethrowBug(thrown);
      const message = this.#hasBuilt ? rollupFailed : initialRollupFailed;
      logger.event(message, { err: rollupFailureText(thrown) });
    }
  }
}

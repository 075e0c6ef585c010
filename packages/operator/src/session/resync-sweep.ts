// Mark and sweep after a reconnect (kubernetes §4.2, §4.4): a machine that left the cluster while the
// operator was away produces no frame, so its objects would stay for ever. Marks are everything the
// session has heard of; the shard's `resync` ack says that the replay is complete. A classic shard
// does not send it, so there three quiet intervals stand in; for a shard that does, they never do,
// because a slow replay would then delete objects of machines that are bound.
//
// Hints are swept later: the catch-all follows the cycle after the first applied roll-up. A sweep that
// failed is tried again while the session lasts, with the marks that came meanwhile.

import { Backoff, runWithDeadline, sleep, type Timer } from '@bigfleet/base';
import type { OperatorContext } from './context.ts';
import { asLogValue, rethrowBug } from './supervisor.ts';
import { sweepFailed } from './log-messages.ts';
import { SILENT_INTERVALS } from './settings.ts';

const RETRY = { initialMs: 500, maxMs: 30_000 };

export class ResyncSweep {
  readonly #context: OperatorContext;
  /** Ends with the session. */
  readonly #signal: AbortSignal;
  /** Grow until the sweep is done: what is heard of meanwhile is not left over. Undefined afterwards. */
  #machines: Set<string> | undefined = new Set();
  #hints: Set<string> | undefined = new Set();
  #isSweepingHints = false;
  #earlierWrites: Promise<unknown> = Promise.resolve();
  #isReplayComplete = false;
  #isHintTimeOver = false;
  #quiet: Timer | undefined;
  #hintTimer: Timer | undefined;

  constructor(context: OperatorContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /** The replay begins; `earlierWrites` are those that the session before this one had begun. */
  begin(earlierWrites: Promise<unknown>): void {
    this.#earlierWrites = earlierWrites;
  }

  sawMachine(machineId: string): void {
    this.#machines?.add(machineId);
    if (this.#quiet !== undefined) this.awaitQuiet();
  }

  sawHint(supersedesKey: string): void {
    this.#hints?.add(supersedesKey);
  }

  /** For a classic shard: the replay counts as complete when no state came for three intervals. */
  awaitQuiet(): void {
    this.#quiet?.cancel();
    const ms = SILENT_INTERVALS * this.#context.settings.rollupIntervalMs;
    this.#quiet = this.#context.runtime.timers.after(ms, () => this.replayComplete());
  }

  replayComplete(): void {
    this.#quiet?.cancel();
    this.#quiet = undefined;
    if (this.#isReplayComplete) return;
    this.#isReplayComplete = true;
    const known = this.#machines ?? new Set<string>();
    const { cluster, supervisor } = this.#context;
    const done = this.#sweep('machines', (signal) => cluster.sweepMachines(known, signal));
    supervisor.watch(done.then(() => (this.#machines = undefined)));
    this.#sweepHints();
  }

  /** The first applied roll-up counts. */
  rollupApplied(): void {
    const { runtime, settings } = this.#context;
    this.#hintTimer ??= runtime.timers.after(settings.hintSweepDelayMs, () => {
      this.#isHintTimeOver = true;
      this.#sweepHints();
    });
  }

  close(): void {
    this.#quiet?.cancel();
    this.#hintTimer?.cancel();
  }

  #sweepHints(): void {
    const known = this.#hints;
    if (!this.#isReplayComplete || !this.#isHintTimeOver || known === undefined) return;
    if (this.#isSweepingHints) return;
    this.#isSweepingHints = true;
    const { cluster, supervisor } = this.#context;
    const sweep = (signal: AbortSignal): Promise<void> =>
      cluster.sweepAvailableCapacity(known, signal);
    const done = this.#sweep('available capacity', sweep);
    supervisor.watch(done.then(() => (this.#hints = undefined)));
  }

  async #sweep(what: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { runtime, settings, logger } = this.#context;
    const parent = this.#signal;
    const pause = new Backoff(runtime.random.stream(`sweep ${what}`), RETRY);
    // A write of the last session that ends after the sweep would bring back what it removed.
    const sweep = (signal: AbortSignal): Promise<void> =>
      this.#earlierWrites.then(() => work(signal));
    while (!parent.aborted) {
      try {
        await runWithDeadline(runtime, { ms: settings.sweepTimeoutMs, parent }, sweep);
        return;
      } catch (thrown) {
        rethrowBug(thrown);
        if (!parent.aborted) logger.event(sweepFailed, { what, err: asLogValue(thrown) });
      }
      await sleep(runtime, pause.nextMs(), parent).catch(() => {});
    }
  }
}

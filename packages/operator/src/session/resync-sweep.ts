// Mark and sweep after a reconnect (kubernetes §4.2, §4.4): a machine that left the cluster while the
// operator was away produces no frame, so its objects would stay for ever. Marks are everything the
// session has heard of; the shard's `resync` ack says that the replay is complete. A classic shard
// does not send it, so there three quiet intervals stand in; for a shard that does, they never do,
// because a slow replay would then delete objects of machines that are bound.
//
// Hints are swept later: the catch-all follows the cycle after the first applied roll-up.

import { runWithDeadline, type Timer } from '@bigfleet/base';
import type { OperatorContext } from './context.ts';
import { asLogValue, rethrowBug } from './supervisor.ts';
import { sweepFailed } from './log-messages.ts';
import { SILENT_INTERVALS } from './settings.ts';

export class ResyncSweep {
  readonly #context: OperatorContext;
  /** Ends with the session. */
  readonly #signal: AbortSignal;
  /** Undefined once swept: nothing needs the marks any more. */
  #machines: Set<string> | undefined = new Set();
  #hints: Set<string> | undefined = new Set();
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
    this.#machines = undefined;
    const { cluster, supervisor } = this.#context;
    supervisor.watch(this.#sweep('machines', (signal) => cluster.sweepMachines(known, signal)));
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
    this.#hints = undefined;
    const { cluster, supervisor } = this.#context;
    supervisor.watch(
      this.#sweep('available capacity', (signal) => cluster.sweepAvailableCapacity(known, signal)),
    );
  }

  async #sweep(what: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { runtime, settings, logger } = this.#context;
    const parent = this.#signal;
    const earlierWrites = this.#earlierWrites;
    try {
      // A write of the last session that ends after the sweep would bring back what it removed.
      const sweep = (signal: AbortSignal): Promise<void> => earlierWrites.then(() => work(signal));
      await runWithDeadline(runtime, { ms: settings.sweepTimeoutMs, parent }, sweep);
    } catch (thrown) {
      rethrowBug(thrown);
      if (!parent.aborted) logger.event(sweepFailed, { what, err: asLogValue(thrown) });
    }
  }
}

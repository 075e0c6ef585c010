// The running drains of the cluster, one per node. They belong to the process, not to a stream: a
// lost session does not stop an eviction, and an instruction that names a draining node joins it.
// Bounded by the nodes of the cluster: only what a cordon found, or could not reach, is drained.

import { type Timer, orAborted, sleep } from '@bigfleet/base';
import { durationSeconds } from '@bigfleet/telemetry';
import type { DrainControl, DrainOutcome, DrainTarget } from './cluster-port.ts';
import type { BoundContext } from './context.ts';
import { asLogValue, rethrowBug } from './supervisor.ts';
import { drainFailed, drainFinished, drainRetry } from './log-messages.ts';

export interface DrainRequest {
  readonly target: DrainTarget;
  readonly instructionId: string;
  /** Monotonic. */
  readonly deadlineMs: number;
}

interface RunningDrain {
  readonly drain: Drain;
  readonly outcome: Promise<DrainOutcome>;
}

export class Drains {
  readonly #context: BoundContext;
  readonly #running = new Map<string, RunningDrain>();

  /** `lifetime` ends with the process; what is left to do is found again at its next start. */
  constructor(context: BoundContext) {
    this.#context = context;
  }

  /** Starts the drain, or joins the one that runs and may shorten it. Rejects at shutdown only. */
  join(request: DrainRequest): Promise<DrainOutcome> {
    const key = keyOf(request.target);
    const known = this.#running.get(key);
    if (known !== undefined) {
      known.drain.shorten(request.deadlineMs);
      return known.outcome;
    }
    const drain = new Drain(this.#context, request);
    const outcome = this.#run(key, drain);
    this.#running.set(key, { drain, outcome });
    return outcome;
  }

  shorten(target: DrainTarget, deadlineMs: number): void {
    this.#running.get(keyOf(target))?.drain.shorten(deadlineMs);
  }

  async #run(key: string, drain: Drain): Promise<DrainOutcome> {
    try {
      const outcome = await drain.run();
      const nowMs = this.#context.runtime.clock.monotonicMs();
      const seconds = durationSeconds(drain.startMs, nowMs);
      const { metrics, logger } = this.#context;
      metrics.drainDuration.labels({ outcome: outcome.kind }).observe(seconds);
      if (outcome.kind === 'deadline' || outcome.kind === 'forbidden') {
        const err = outcome.error ?? 'the grace is over';
        logger.event(drainFailed, { ...drain.names, err });
      }
      logger.event(drainFinished, { ...drain.names, ...outcomeFields(outcome), seconds });
      return outcome;
    } finally {
      this.#running.delete(key);
    }
  }
}

function outcomeFields(outcome: DrainOutcome): { outcome: string; pods_remaining?: number } {
  const count = outcome.kind === 'deadline' ? outcome.podsRemaining : 0;
  return count === 0 ? { outcome: outcome.kind } : { outcome: outcome.kind, pods_remaining: count };
}

/** By machine where the shard says it: the node's name may become known while it drains. */
function keyOf({ machineId, node }: DrainTarget): string {
  return machineId === '' ? `node ${node}` : `machine ${machineId}`;
}

const RETRY_MS = 5_000;

/** After the deadline, for the port to say what is left. */
const ANSWER_MS = 5_000;

/**
 * One drain of one node. Every instruction that names the node joins it, and may only bring its deadline
 * forward (a preemption overtaking a voluntary reclaim). A failing attempt is repeated until the
 * deadline: reporting early would let the provider cut pods that a disruption budget still protects.
 */
class Drain implements DrainControl {
  readonly instructionId: string;
  readonly startMs: number;
  readonly #context: BoundContext;
  readonly #target: DrainTarget;
  readonly #deadline = new AbortController();
  readonly #giveUp = new AbortController();
  #deadlineMs: number;
  #timer: Timer | undefined;
  #answerTimer: Timer | undefined;

  constructor(context: BoundContext, { target, instructionId, deadlineMs }: DrainRequest) {
    const { runtime, lifetime } = context;
    this.#context = context;
    this.#target = target;
    this.instructionId = instructionId;
    this.startMs = runtime.clock.monotonicMs();
    this.#deadlineMs = deadlineMs;
    lifetime.addEventListener('abort', this.#onLifetimeEnd);
    if (lifetime.aborted) this.#onLifetimeEnd();
    else this.#arm();
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  /** For log lines. */
  get names(): { readonly id: string; readonly node: string; readonly machine: string } {
    const { node, machineId: machine } = this.#target;
    return { id: this.instructionId, node, machine };
  }

  get isInterrupted(): boolean {
    return this.#context.lifetime.aborted;
  }

  remainingMs(): number {
    return Math.max(0, this.#deadlineMs - this.#context.runtime.clock.monotonicMs());
  }

  /** Later deadlines are ignored. */
  shorten(deadlineMs: number): void {
    if (deadlineMs >= this.#deadlineMs || this.signal.aborted) return;
    this.#deadlineMs = deadlineMs;
    this.#arm();
  }

  /** Resolves once, with the outcome; rejects only when the process stops. */
  async run(): Promise<DrainOutcome> {
    const { cluster, lifetime } = this.#context;
    try {
      while (!this.signal.aborted) {
        try {
          return await orAborted(cluster.drain(this.#target, this), this.#giveUp.signal);
        } catch (thrown) {
          rethrowBug(thrown);
          lifetime.throwIfAborted();
          if (!this.signal.aborted) await this.#pause(thrown);
        }
      }
      lifetime.throwIfAborted();
      return { kind: 'deadline', podsRemaining: 0, error: 'pods remaining: unknown' };
    } finally {
      this.#release();
    }
  }

  async #pause(thrown: unknown): Promise<void> {
    const { runtime, logger } = this.#context;
    const { node } = this.#target;
    logger.event(drainRetry, { id: this.instructionId, node, err: asLogValue(thrown) });
    // The loop looks at the signal itself.
    await sleep(runtime, Math.min(RETRY_MS, this.remainingMs()), this.signal).catch(() => {});
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = this.#context.runtime.timers.after(this.remainingMs(), () => this.#expire());
  }

  #expire(): void {
    this.#deadline.abort(new Error('the grace of the drain is over'));
    this.#answerTimer = this.#context.runtime.timers.after(ANSWER_MS, () =>
      this.#giveUp.abort(new Error('the drain did not end at its deadline')),
    );
  }

  readonly #onLifetimeEnd = (): void => {
    const reason: unknown = this.#context.lifetime.reason;
    this.#deadline.abort(reason);
    this.#giveUp.abort(reason);
  };

  #release(): void {
    this.#timer?.cancel();
    this.#answerTimer?.cancel();
    this.#context.lifetime.removeEventListener('abort', this.#onLifetimeEnd);
  }
}

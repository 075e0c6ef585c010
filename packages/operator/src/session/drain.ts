// One drain of one node. It outlives streams and instructions: every instruction that names the node
// joins it, and may only bring its deadline forward (a preemption overtaking a voluntary reclaim).
// A failing attempt is repeated until the deadline: reporting early would let the provider cut pods
// that a disruption budget still protects.

import { type Runtime, type Timer, orAborted, sleep } from '@bigfleet/base';
import type { ClusterPort, DrainControl, DrainOutcome, DrainTarget } from './cluster-port.ts';
import { rethrowBug } from './supervisor.ts';
import { NodeDrainOutcome } from '@bigfleet/wire';

export interface DrainOptions {
  readonly runtime: Runtime;
  readonly cluster: Pick<ClusterPort, 'drain'>;
  readonly target: DrainTarget;
  readonly instructionId: string;
  /** Monotonic. */
  readonly deadlineMs: number;
  readonly lifetime: AbortSignal;
  readonly onRetry: (thrown: unknown) => void;
}

const RETRY_MS = 5_000;

/** After the deadline, for the port to say what is left. */
const ANSWER_MS = 5_000;

export class Drain implements DrainControl {
  readonly instructionId: string;
  readonly startMs: number;
  readonly #options: DrainOptions;
  readonly #deadline = new AbortController();
  readonly #giveUp = new AbortController();
  #deadlineMs: number;
  #timer: Timer | undefined;
  #answerTimer: Timer | undefined;

  constructor(options: DrainOptions) {
    const { runtime, lifetime, deadlineMs, instructionId } = options;
    this.#options = options;
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

  remainingMs(): number {
    return Math.max(0, this.#deadlineMs - this.#options.runtime.clock.monotonicMs());
  }

  /** Later deadlines are ignored. */
  shorten(deadlineMs: number): void {
    if (deadlineMs >= this.#deadlineMs || this.signal.aborted) return;
    this.#deadlineMs = deadlineMs;
    this.#arm();
  }

  /** Resolves once, with the outcome; rejects only when the process stops. */
  async run(): Promise<DrainOutcome> {
    const { cluster, target, lifetime } = this.#options;
    try {
      while (!this.signal.aborted) {
        try {
          return await orAborted(cluster.drain(target, this), this.#giveUp.signal);
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
    this.#options.onRetry(thrown);
    await sleep(this.#options.runtime, Math.min(RETRY_MS, this.remainingMs()), this.signal).catch(
      ignoreAbort,
    );
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.runtime.timers.after(this.remainingMs(), () => this.#expire());
  }

  #expire(): void {
    this.#deadline.abort(new Error('the grace of the drain is over'));
    this.#answerTimer = this.#options.runtime.timers.after(ANSWER_MS, () =>
      this.#giveUp.abort(new Error('the drain did not end at its deadline')),
    );
  }

  readonly #onLifetimeEnd = (): void => {
    const reason: unknown = this.#options.lifetime.reason;
    this.#deadline.abort(reason);
    this.#giveUp.abort(reason);
  };

  #release(): void {
    this.#timer?.cancel();
    this.#answerTimer?.cancel();
    this.#options.lifetime.removeEventListener('abort', this.#onLifetimeEnd);
  }
}

/** The loop looks at the signal itself. */
function ignoreAbort(): void {}

/** One node's drain, as the shard reads it in a FINISHED ack. */
export interface DrainResult {
  readonly node: string;
  readonly machineId: string;
  readonly outcome: NodeDrainOutcome;
  readonly podsRemaining: number;
  readonly error: string;
}

const WIRE_OUTCOMES: Readonly<Record<DrainOutcome['kind'], NodeDrainOutcome>> = {
  empty: NodeDrainOutcome.EMPTY,
  deadline: NodeDrainOutcome.DEADLINE,
  forbidden: NodeDrainOutcome.FORBIDDEN,
  node_not_found: NodeDrainOutcome.NODE_NOT_FOUND,
};

export function drainResult({ node, machineId }: DrainTarget, outcome: DrainOutcome): DrainResult {
  return {
    node,
    machineId,
    outcome: WIRE_OUTCOMES[outcome.kind],
    podsRemaining: outcome.kind === 'deadline' ? outcome.podsRemaining : 0,
    error: 'error' in outcome ? (outcome.error ?? '') : '',
  };
}

// The one way to change the fleet state (coordinator §2.5): commands wait in a bounded queue, one is
// in flight, and the state in memory changes only after the engine has committed. Whatever the
// engine is unsure about is resolved before the next command starts (coordinator §3.5): a guess
// would make memory and disk drift. It steps down rather than continue on a state it cannot prove.
// A result `unchanged` or `refused` is read from memory: who answers a peer with it confirms first.

import {
  AssertionError,
  BoundedQueue,
  describeThrown,
  type Runtime,
  runWithDeadline,
} from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Command, CommandBody } from '../state/commands.ts';
import { decide } from '../state/decide/decide.ts';
import { FleetState, type FleetView } from '../state/fleet-state.ts';
import type { CommitRequest, CommitResult, Leadership, LossReason, Store } from '../store/store.ts';
import type { ApplyOptions, ApplyResult, Ledger } from './ledger.ts';
import { resolveUnknown } from './resolve-unknown.ts';
import { Sweeper } from './sweeper.ts';

const MAX_QUEUED = 1_024;
const MAX_COMMIT_MS = 5_000;
/** In the queue and in flight, for callers that name no deadline. */
const DEFAULT_WAIT_MS = 30_000;
/** An engine that does not answer even this long after its deadline is treated as `unknown`. */
const ENGINE_GRACE_MS = 1_000;
const RESIGN_MS = 2_000;
const ID_PREFIX_BYTES = 8;
const NANOS_PER_MS = 1_000_000n;

export type ApplyOutcome = 'success' | 'error' | 'fsm_error';

/** Once per command that reached the state machine; `bigfleet_coordinator_apply_total`. */
export type ApplyObserver = (outcome: ApplyOutcome, durationMs: number) => void;

export interface ApplyQueueOptions {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly leadership: Leadership;
  readonly log: Logger;
  readonly onApplied?: ApplyObserver;
}

interface Job {
  readonly body: CommandBody;
  readonly deadlineMs: number;
  readonly settle: (result: ApplyResult) => void;
  readonly fail: (error: unknown) => void;
}

/** Loads the state of this leadership and takes over. */
export async function openLedger(options: ApplyQueueOptions): Promise<ApplyQueue> {
  const { runtime, store, leadership } = options;
  const loaded = await store.load(leadership);
  return new ApplyQueue(options, await FleetState.load(loaded, () => runtime.timers.turn()));
}

const NOT_YET: Promise<undefined> = Promise.resolve(undefined);

export class ApplyQueue implements Ledger {
  readonly term: bigint;
  readonly #options: ApplyQueueOptions;
  readonly #state: FleetState;
  readonly #jobs = new BoundedQueue<Job>(MAX_QUEUED);
  readonly #sweeper: Sweeper;
  readonly #losing = new AbortController();
  /** Aborted when this ledger may no longer be used; its reason is a `LossReason`. */
  readonly lost: AbortSignal = this.#losing.signal;
  /** No two leaderships share it, so no two commands share an id. */
  readonly #idPrefix: string;
  #stampedCount = 0;
  #draining: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: ApplyQueueOptions, state: FleetState) {
    this.#options = options;
    this.#state = state;
    this.term = options.leadership.term;
    this.#idPrefix = Buffer.from(options.runtime.entropy.bytes(ID_PREFIX_BYTES)).toString('hex');
    this.#sweeper = new Sweeper({ ...options, state });
    this.#sweeper.add(state.dangling());
    this.#follow(options.leadership.lost);
    this.#wake();
  }

  get state(): FleetView {
    return this.#state;
  }

  /** Commands waiting, the one in flight aside. */
  get queued(): number {
    return this.#jobs.size;
  }

  confirm(): Promise<'leading' | 'deposed' | 'timeout'> {
    if (this.lost.aborted) return Promise.resolve('deposed');
    return this.#options.store.confirm(this.#options.leadership);
  }

  apply(body: CommandBody, options: ApplyOptions = {}): Promise<ApplyResult> {
    if (this.lost.aborted || this.#isClosing) return Promise.resolve(NOT_LEADER);
    const nowMs = this.#options.runtime.clock.monotonicMs();
    const deadlineMs = options.deadlineMs ?? nowMs + DEFAULT_WAIT_MS;
    return new Promise((settle, fail) => {
      const outcome = this.#jobs.push({ body, deadlineMs, settle, fail });
      if (outcome !== 'queued') return settle({ kind: 'busy' });
      this.#wake();
    });
  }

  /** Takes nothing new, lets the command in flight end, answers the waiting ones `not-leader`. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#refuseWaiting();
    await this.#draining;
  }

  #wake(): void {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
      // A command may have come between the last look at the queue and this moment.
      if (this.#jobs.size > 0) this.#wake();
    });
  }

  /** Sweeps when nobody waits. Rejects only by a bug: a failed command rejects its own caller. */
  async #drain(): Promise<void> {
    while (!this.lost.aborted) {
      const job = this.#jobs.shift();
      if (job !== undefined) await this.#run(job);
      else if (this.#isClosing || !(await this.#sweeper.sweepOnce())) return;
    }
  }

  async #run(job: Job): Promise<void> {
    try {
      job.settle(await this.#attempt(job));
    } catch (error) {
      // A bug, or a reload that failed after a definite refusal: memory cannot be proven equal to
      // the store any more.
      if (error instanceof AssertionError) job.fail(error);
      else job.settle(unavailable('not-written', describeThrown(error)));
      await this.#stepDown('guard_failed', describeThrown(error));
    }
  }

  async #attempt(job: Job): Promise<ApplyResult> {
    const { clock } = this.#options.runtime;
    const startedMs = clock.monotonicMs();
    if (startedMs >= job.deadlineMs) return unavailable('not-written', 'deadline passed in queue');
    if (!this.#options.leadership.isWithinWindow()) {
      await this.#stepDown('lease_lost', 'the lease window is closed');
      return NOT_LEADER;
    }
    const command = this.#stamp(job.body);
    const deadlineMs = Math.min(job.deadlineMs, startedMs + MAX_COMMIT_MS);
    const first = await this.#commit(job, command, deadlineMs);
    const result = first === 'moved' ? await this.#again(job, command, deadlineMs) : first;
    const durationMs = clock.monotonicMs() - startedMs;
    this.#options.onApplied?.(outcomeOf(result), durationMs);
    return result;
  }

  /** Someone wrote behind our back: what is in memory is thrown away, and the command tried once. */
  async #again(job: Job, command: Command, deadlineMs: number): Promise<ApplyResult> {
    this.#options.log.error('the store was changed by another writer; reloading everything', {
      term: this.term,
      index: this.#state.meta.applyIndex,
    });
    this.#state.replaceWith(await this.#options.store.load(this.#options.leadership));
    this.#sweeper.add(this.#state.dangling());
    const result = await this.#commit(job, command, deadlineMs);
    if (result !== 'moved') return result;
    await this.#stepDown('guard_failed', 'the store moved twice under one command');
    return NOT_LEADER;
  }

  async #commit(job: Job, command: Command, deadlineMs: number): Promise<ApplyResult | 'moved'> {
    const expectedIndex = this.#state.meta.applyIndex;
    const decision = decide(this.#state, command, expectedIndex + 1);
    if (decision.kind !== 'change') return decision;
    const { change } = decision;
    const request = { expectedIndex, commandId: command.commandId, change, deadlineMs };
    const result = await this.#ask(request);
    switch (result.kind) {
      case 'committed':
        return this.#install(request);
      case 'failed':
        return unavailable('not-written', result.error.message);
      case 'unknown':
        return this.#unknown(job, request, result.error);
      case 'refused':
        if (result.reason !== 'deposed') return 'moved';
        await this.#stepDown('guard_failed', 'the engine refused this leadership');
        return NOT_LEADER;
    }
  }

  async #ask(request: CommitRequest): Promise<CommitResult> {
    const { runtime, store, leadership } = this.#options;
    try {
      const committing = store.commit(leadership, request);
      // An engine in this process has answered already: a deadline for it would cost as much as deciding.
      const early = await Promise.race([committing, NOT_YET]);
      if (early !== undefined) return early;
      const waitMs = request.deadlineMs - runtime.clock.monotonicMs() + ENGINE_GRACE_MS;
      return await runWithDeadline(runtime, { ms: Math.max(waitMs, 0) }, () => committing);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const cause = error instanceof Error ? error : new Error(describeThrown(error));
      return { kind: 'unknown', error: cause };
    }
  }

  #install(request: CommitRequest): ApplyResult {
    this.#state.install(request.change, request.commandId);
    this.#sweeper.add(request.change.gc);
    return { kind: 'applied', index: this.#state.meta.applyIndex };
  }

  /** The caller hears at once; the queue stays blocked until the engine has told what happened. */
  async #unknown(job: Job, request: CommitRequest, error: Error): Promise<ApplyResult> {
    const answer = unavailable('unknown', `outcome unknown; safe to retry: ${error.message}`);
    job.settle(answer);
    const { log } = this.#options;
    const outcome = await resolveUnknown(this.#options, request, this.lost);
    log.warn('outcome of a commit was unknown', { index: request.expectedIndex + 1, outcome });
    if (outcome === 'committed') this.#install(request);
    else if (outcome !== 'not-committed') await this.#stepDown(outcome, 'outcome unknown');
    return answer;
  }

  #stamp(body: CommandBody): Command {
    const { clock } = this.#options.runtime;
    const commandId = `${this.#idPrefix}-${++this.#stampedCount}`;
    return { ...body, commandId, issuedAtMs: Number(clock.unixNanos() / NANOS_PER_MS) };
  }

  async #stepDown(reason: LossReason, why: string): Promise<void> {
    if (this.lost.aborted) return;
    const { runtime, store, leadership, log } = this.#options;
    log.error('stepping down', { reason, why, term: this.term });
    this.#lose(reason);
    try {
      await runWithDeadline(runtime, { ms: RESIGN_MS }, () => store.resign(leadership));
    } catch (error) {
      log.warn('resigning failed; the lease ends by itself', { error: describeThrown(error) });
    }
  }

  #follow(lost: AbortSignal): void {
    if (lost.aborted) return this.#lose(lost.reason);
    lost.addEventListener('abort', () => this.#lose(lost.reason), { once: true });
  }

  #lose(reason: unknown): void {
    this.#losing.abort(reason);
    this.#refuseWaiting();
  }

  #refuseWaiting(): void {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift())
      job.settle(NOT_LEADER);
  }
}

const NOT_LEADER: ApplyResult = { kind: 'not-leader' };

function unavailable(outcome: 'not-written' | 'unknown', message: string): ApplyResult {
  return { kind: 'unavailable', outcome, message };
}

function outcomeOf(result: ApplyResult): ApplyOutcome {
  if (result.kind === 'applied' || result.kind === 'unchanged') return 'success';
  return result.kind === 'refused' ? 'fsm_error' : 'error';
}

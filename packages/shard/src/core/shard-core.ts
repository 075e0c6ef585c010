// The shard without its sockets: reconcile, decide, dispose, execute, in cycles that never
// overlap. Single writer, single thread; the engine answers from elsewhere. Knows no coordinator,
// no session and no metric: those are ports, so that the whole of it runs under virtual time.
//
// Between the question to the engine and its answer the world moves on; the live-state guard and
// the generation of each slot make the stale answer safe.

import type { Runtime } from '@bigfleet/base';
import {
  ActionKind,
  type ConfigureBrake,
  decodeShardMetadata,
  noBrakes,
  type RefusedRollups,
  startStateOf,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { type ActuationRails, disposeActions, dispositionsOfCycle } from '../cycle/dispose.ts';
import { Pacer } from '../cycle/pacer.ts';
import { SnapshotCounts } from '../cycle/snapshot-counts.ts';
import type { CycleAnswer } from '../engine-host/answer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { ActionOrder, Execution } from '../execute/execution.ts';
import { Executor } from '../execute/executor.ts';
import { type EndedExecution, OpenExecutions } from '../execute/open-executions.ts';
import { ExecutePool } from '../execute/pool.ts';
import type { BlobSource, DrainDesk } from '../execute/ports.ts';
import { Fleet, type FleetGate } from '../fleet/fleet.ts';
import type { NodeChange } from '../fleet/node-change.ts';
import { ProviderRounds, type RoundOutcome } from '../provider/provider-rounds.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { IngestChange } from '../provider/reconcile/ingest.ts';
import { ActuationHold } from './actuation-hold.ts';
import type { CycleReport, ShardObserver } from './observer.ts';
import { Readiness } from './readiness.ts';

const inTransit: ReadonlySet<StateCode> = new Set([
  State.Creating,
  State.Configuring,
  State.Draining,
]);

export interface ShardCoreOptions {
  readonly runtime: Runtime;
  readonly host: EngineHost;
  readonly providers: ProviderSet;
  readonly blobs: BlobSource;
  readonly drains: DrainDesk;
  readonly executeConcurrency: number;
  /** Asked in every cycle, and whenever `railsChanged` says so. */
  readonly rails: () => ActuationRails;
  /** Pairs whose operator refused a bootstrap, as of now. */
  readonly heldOff: () => ReadonlySet<string>;
  /** Holds off needs and types whose Configures fail; absent: the rail is off. */
  readonly brake?: ConfigureBrake | undefined;
  /** Speculative machines that may still be bought, by provider. */
  readonly quotaRemaining?: () => ReadonlyMap<string, number>;
  /** Roll-ups that were refused or held since this was asked last. */
  readonly refusedRollups?: () => RefusedRollups;
  readonly onNodeChange: (change: NodeChange) => void;
  /** Absent: everything that a provider lists is ours. */
  readonly gate?: FleetGate | undefined;
  readonly observer: ShardObserver;
  readonly cycleIntervalMs?: number | undefined;
}

export type PoolLoad = Pick<ExecutePool, 'queuedCount' | 'runningCount' | 'windowOf'>;

export class ShardCore {
  readonly fleet: Fleet;
  readonly readiness: Readiness;
  readonly #options: ShardCoreOptions;
  readonly #pacer: Pacer;
  readonly #pool: ExecutePool;
  readonly #executor: Executor;
  readonly #rounds: ProviderRounds;
  readonly #open: OpenExecutions;
  readonly #snapshot: SnapshotCounts;
  readonly #hold: ActuationHold;
  #cycle = 0;
  /** In the last cycle. */
  #cappedReclaimCount = 0;
  #isStopping = false;

  constructor(options: ShardCoreOptions) {
    const { runtime, host, providers, blobs, drains, observer } = options;
    this.#options = options;
    this.#open = new OpenExecutions((ended) => this.#ended(ended));
    this.#snapshot = new SnapshotCounts((cluster) => this.fleet.configuredCount(cluster));
    this.fleet = new Fleet({
      feed: host.machines,
      clock: runtime.clock,
      onNodeChange: (change) => this.#changed(change),
      gate: options.gate,
    });
    this.readiness = new Readiness(runtime.clock, providers);
    this.#rounds = new ProviderRounds({
      runtime,
      providers,
      isPatient: () => !this.readiness.isReady,
      onRefreshed: (name) => this.readiness.noteSuccess(name),
      onRefused: (name, error) => observer.onRefused(name, error),
      onLate: () => this.wake(),
    });
    this.#executor = new Executor({
      fleet: this.fleet,
      providers,
      blobs,
      drains,
      pace: {
        accepted: (order) => this.#pool.accepted(order),
        throttled: (order) => this.#pool.throttled(order),
      },
      onFenced: (order) => {
        this.#hold.fence();
        observer.onFenced(order);
      },
      onProblem: (order, problem, error) => observer.onProblem(order, problem, error),
    });
    this.#pool = new ExecutePool({
      runtime,
      concurrency: options.executeConcurrency,
      providerOf: ({ handle }) => this.fleet.providerOf(handle.slot),
      run: (order, signal) => this.#execute(order, signal),
      onDone: (order, execution, tookMs) => this.#done(order, execution, tookMs),
      onThrottled: (provider, slowDown) => observer.onThrottled(provider, slowDown),
      onDropped: (order) => {
        this.#release(order);
        observer.onReleased(order);
      },
      // More cycles would be more reclaims than rail 1 means to let through in this time.
      onRoom: () => {
        if (this.#cappedReclaimCount === 0) this.wake();
      },
    });
    this.#hold = new ActuationHold({
      ...options,
      fleet: this.fleet,
      executor: this.#executor,
      pool: this.#pool,
      open: this.#open,
      onResumed: () => this.wake(),
    });
    this.#pacer = new Pacer({
      runtime,
      intervalMs: options.cycleIntervalMs,
      run: () => this.#runCycle(),
      onError: (error) => observer.onCycleError(error),
    });
  }

  get cycleCount(): number {
    return this.#cycle;
  }

  get isFenced(): boolean {
    return this.#hold.isFenced;
  }

  start(): void {
    this.railsChanged();
    this.#pacer.start();
  }

  /** What waits, what runs, and how much of it each provider gets at a time. */
  get load(): PoolLoad {
    return this.#pool;
  }

  /** Something changed that a cycle should see soon. */
  wake(): void {
    this.#pacer.wake();
  }

  /** The rails may be others than before: what they stop stops now, not in the next cycle. */
  railsChanged(): void {
    this.#hold.look();
  }

  /**
   * An action that no cycle decided, under the rules of one that did: the live state, nothing under
   * way, room in the queue, which has none while actuation is held. False when it was not taken.
   */
  offer(order: ActionOrder): boolean {
    const { handle, kind } = order;
    const { slot } = handle;
    const { fleet } = this;
    if (!fleet.isSame(handle)) return false;
    if (fleet.stateOf(slot) !== startStateOf(kind)) return false;
    if (fleet.pendingOf(slot) !== 'none' || !fleet.mayAct(slot, kind)) return false;
    fleet.setPending(slot, 'in_flight');
    const isTaken = this.#pool.offer(order);
    if (!isTaken) fleet.setPending(slot, 'none');
    return isTaken;
  }

  /**
   * The operator is done with a drain, or its grace is over: the provider's turn. False when it must
   * be offered again: there is no room, or actuation is held.
   */
  drainDue(order: ActionOrder, graceSeconds: number): boolean {
    return this.#pool.offer({ ...order, graceSeconds, isDrainDue: true });
  }

  /** No more cycles; what runs may finish until `signal` says that there is no more time. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#isStopping = true;
    const stopped = this.#pacer.stop();
    const listed = this.#rounds.stop();
    const dropped = await this.#pool.close(signal);
    for (const order of dropped) this.#release(order);
    await stopped;
    await listed;
  }

  async #runCycle(): Promise<void> {
    const { runtime, host, observer, heldOff, brake, quotaRemaining } = this.#options;
    const now = (): number => runtime.clock.monotonicMs();
    const startMs = now();
    this.#cycle += 1;
    host.shipInputs();
    const refreshes = await this.#reconcile();
    if (this.#isStopping) return;
    const reconciledMs = now();
    host.setHeldOff(heldOff());
    host.setBrakes(brake?.brakes(now(), (id) => this.#isTried(id)) ?? noBrakes);
    const quota = quotaRemaining?.();
    this.#snapshot.take();
    const answer = await host.cycle({
      nowMs: this.fleet.nowMs(),
      ...(quota === undefined ? {} : { quotaRemaining: quota }),
    });
    const decidedMs = now();
    this.railsChanged();
    const disposed = this.#dispose(answer, refreshes);
    const endMs = now();
    // What was cut is wanted now; what rail 1 deferred is meant to wait.
    if (disposed.disposition.truncatedCount > 0) this.#pacer.wake();
    this.#cappedReclaimCount = disposed.disposition.cappedReclaimCount;
    observer.onCycle({
      cycle: this.#cycle,
      answer,
      ...disposed,
      refreshes,
      tookMs: {
        reconcile: reconciledMs - startMs,
        engine: answer.tookMs,
        execute: endMs - decidedMs,
        total: endMs - startMs,
      },
    });
  }

  #dispose(
    answer: CycleAnswer,
    refreshes: ReadonlyMap<string, RoundOutcome>,
  ): Pick<CycleReport, 'disposition' | 'dispositions'> {
    const { observer, rails, refusedRollups } = this.#options;
    const asked = rails();
    const effective = { ...asked, isPaused: asked.isPaused || this.#hold.isFenced };
    const disposition = disposeActions(answer, effective, {
      fleet: this.fleet,
      configuredCount: (cluster) => this.#snapshot.countOf(cluster),
      // A call to a provider that does not answer ends after 30 s, with a machine in doubt.
      isReachable: (slot) => !this.#isSilent(slot, refreshes),
      enqueue: (order) => this.#enqueue(order),
      onWithheld: (order, by) => observer.onWithheld(order, by),
    });
    const refused = refusedRollups?.();
    const dispositions = dispositionsOfCycle({ answer, disposition, rails: effective, refused });
    return { disposition, dispositions };
  }

  /** What is queued is tried: a second cycle must not try as much again. */
  #enqueue(order: ActionOrder): boolean {
    const { brake, runtime } = this.#options;
    const isTaken = this.#pool.offer(order);
    if (isTaken && brake !== undefined && order.need !== undefined) {
      brake.began(this.fleet.read(order.handle.slot), order.need, runtime.clock.monotonicMs());
    }
    return isTaken;
  }

  /** A machine that a need may still get: it is queued, or on its way. */
  #isTried(machineId: string): boolean {
    const slot = this.fleet.inventory.slotOf(machineId);
    if (slot < 0) return false;
    const state = this.fleet.stateOf(slot);
    return this.fleet.pendingOf(slot) !== 'none' || inTransit.has(state);
  }

  #isSilent(slot: number, refreshes: ReadonlyMap<string, RoundOutcome>): boolean {
    const outcome = refreshes.get(this.fleet.providerOf(slot));
    return outcome?.kind === 'unanswered' && outcome.isSilent;
  }

  #reconcile(): Promise<ReadonlyMap<string, RoundOutcome>> {
    const { runtime, observer } = this.#options;
    return this.#rounds.next({
      known: this.fleet.known,
      nowMs: this.fleet.nowMs(),
      readAssignment: decodeShardMetadata,
      takeWrites: (provider) => this.fleet.takeWrites(provider),
      apply: (batch, provider) => {
        this.fleet.apply(batch);
        for (const record of batch.rejected) observer.onRejectedRecord(provider, record);
        for (const change of batch.changes) this.#tellSkipped(change);
      },
      breathe: () => runtime.timers.turn(),
    });
  }

  #tellSkipped(change: IngestChange): void {
    if (!('skipped' in change) || change.skipped.length === 0) return;
    this.#options.observer.onSkippedMetadata(change.machine.id, change.skipped);
  }

  #execute(order: ActionOrder, signal: AbortSignal): Promise<Execution> {
    const { brake, runtime } = this.#options;
    const { kind, need } = order;
    // Machines for the need failed while this one waited its turn: it would only be the next.
    const isAcquisition = kind === ActionKind.Provision || kind === ActionKind.Bootstrap;
    if (
      isAcquisition &&
      need !== undefined &&
      brake?.isHeldOff(need, runtime.clock.monotonicMs())
    ) {
      return Promise.resolve('put_off');
    }
    // What the hand-over left open ends with the provider's part, and is told by that.
    if (order.isDrainDue === true) this.#open.takeDrain(order.machineId);
    return this.#executor.run(order, signal);
  }

  #done(order: ActionOrder, execution: Execution, tookMs: number): void {
    const { observer } = this.#options;
    // A drain that waits for its operator stays marked until the provider was called.
    if (this.fleet.pendingOf(order.handle.slot) === 'in_flight') this.#release(order);
    observer.onReleased(order);
    if (execution === 'moot' || execution === 'put_off') return;
    if (typeof execution === 'string') return observer.onExecuted(order, execution, tookMs);
    const slot = this.fleet.inventory.slotOf(order.machineId);
    const machine = slot < 0 ? undefined : this.fleet.read(slot);
    this.#open.begin(order, execution, tookMs, machine);
  }

  #ended({ order, outcome, tookMs, problem }: EndedExecution): void {
    const { observer } = this.#options;
    if (problem !== '') observer.onProblem(order, problem, undefined);
    observer.onExecuted(order, outcome, tookMs);
  }

  #changed(change: NodeChange): void {
    this.#snapshot.changed(change);
    const { machine, from, isRemoved } = change;
    const { brake, runtime } = this.#options;
    brake?.changed(machine, from, isRemoved, runtime.clock.monotonicMs());
    this.#options.onNodeChange(change);
    this.#open.changed(change);
  }

  #release({ handle }: ActionOrder): void {
    if (this.fleet.isSame(handle)) this.fleet.setPending(handle.slot, 'none');
  }
}

// Operator-first drain (decision 8, shard §4.5). A drain is handed to the cluster's operator, which
// cordons and evicts within the disruption budgets; the provider is called when the operator says
// that it is done, or when the grace has run out on the shard's clock, whichever is first. Until
// then the machine waits in this table and no worker waits with it.
//
// Losing the session fires nothing: the deadline does, and a reconnect gets the instruction again
// under the same id with what is left of the grace. A second drain of a machine may only shorten
// its deadline. A drain whose operator was lost a moment ago waits untold for its return, and goes to
// the provider past the disruption budgets only when nobody came. While actuation is held no grace
// runs and no operator is told anything; what an operator reports is taken, and the provider's turn
// comes after the resume. Nothing is persisted: after a restart the next cycle derives the drain again
// and the operator takes the repeated instruction as the same drain.
//
// Bound: one entry per machine.

import {
  assert,
  type DrainOperatorOutcome,
  type Runtime,
  type Timer,
  type TimerWheel,
} from '@bigfleet/base';
import { type Logger, type SampledMessage, stableMessages } from '@bigfleet/telemetry';
import {
  NodeDrainOutcome,
  type NodeDrainResult,
  type ReclaimAck,
  ReclaimPhase,
} from '@bigfleet/wire';
import type { NodeNames } from '../nodes/node-names.ts';
import { newFrameId } from '../session/frame.ts';
import type { SessionMetrics } from '../session/metrics.ts';
import type { OperatorSession } from '../session/session.ts';
import type { SessionTable } from '../session/session-table.ts';
import {
  type DrainRequest,
  type IssuedInstruction,
  IssuedInstructions,
  instructionFrame,
} from './instructions.ts';
import { LostSessions } from './lost-sessions.ts';
import type { DrainMetrics } from './metrics.ts';
import { PacedTelling } from './paced-telling.ts';

export type DrainStart =
  /**
   * The operator has it, or is expected back; `onFire` comes later. Keep the machine pending and free
   * the worker.
   */
  | { readonly kind: 'waiting'; readonly deadlineMs: number }
  /** Nobody will report completion: call the provider now, with the whole grace. */
  | {
      readonly kind: 'call_provider';
      readonly graceSeconds: number;
      readonly because: 'not_negotiated' | 'no_session';
    };

/** The provider's turn. */
export interface FiredDrain extends Omit<DrainRequest, 'preemptorPriority'> {
  /** What is left of the grace in whole seconds; 0 when it has run out. */
  readonly graceSeconds: number;
  readonly outcome: DrainOperatorOutcome;
}

export interface DrainWaitsOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'entropy'>;
  readonly wheel: TimerWheel;
  readonly logger: Logger;
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
  readonly metrics: DrainMetrics & Pick<SessionMetrics, 'framesDropped'>;
  readonly sessions: SessionTable;
  readonly names: NodeNames;
  /** Queue the provider call; synchronous, must not fail. */
  readonly onFire: (drain: FiredDrain) => void;
}

interface Wait {
  readonly request: DrainRequest;
  readonly instructionId: string;
  deadlineMs: number;
  /** Nobody was told, and an operator is expected until then. Undefined from the first session on. */
  backByMs: number | undefined;
  timer: Timer;
}

export class DrainWaits {
  readonly #options: DrainWaitsOptions;
  readonly #waits = new Map<string, Wait>();
  readonly #issued: IssuedInstructions;
  readonly #telling: PacedTelling;
  readonly #lost = new LostSessions();
  /** When actuation was held; undefined while it is not. */
  #heldSinceMs: number | undefined;
  /** Clusters whose session was installed since then: their operators have not heard of the drains. */
  readonly #unheard = new Set<string>();

  constructor(options: DrainWaitsOptions) {
    this.#options = options;
    this.#issued = new IssuedInstructions(options.wheel);
    this.#telling = new PacedTelling({
      wheel: options.wheel,
      sessions: options.sessions,
      isHeld: () => this.#heldSinceMs !== undefined,
      tell: (session, machineId) => this.#tell(session, machineId),
    });
  }

  get size(): number {
    return this.#waits.size;
  }

  isWaiting(machineId: string): boolean {
    return this.#waits.has(machineId);
  }

  /** Monotonic; undefined when the machine does not wait. */
  deadlineMsOf(machineId: string): number | undefined {
    return this.#waits.get(machineId)?.deadlineMs;
  }

  /** The machine is Draining from here on, whatever the answer. */
  begin(request: DrainRequest): DrainStart {
    const { metrics, sessions } = this.#options;
    const session = sessions.sessionOf(request.cluster);
    const backByMs = session === undefined ? this.#backByMs(request) : undefined;
    const isExpectedBack = backByMs !== undefined;
    // A machine that waits already: a second answer besides the table's would drain twice.
    const waits = this.isWaiting(request.machineId) || isExpectedBack;
    if (waits || session?.has('reclaim-completion') === true) return this.#wait(request, backByMs);
    const { graceSeconds } = request;
    if (session === undefined) {
      this.#fallBack(request);
      metrics.outcome('no_session').inc();
      return { kind: 'call_provider', graceSeconds, because: 'no_session' };
    }
    metrics.outcome('not_negotiated').inc();
    const id = newFrameId(this.#options.runtime.entropy);
    this.#instruct(session, id, request, graceSeconds * 1_000);
    return { kind: 'call_provider', graceSeconds, because: 'not_negotiated' };
  }

  /** From the fast lane of a session. */
  acknowledge(session: OperatorSession, ack: ReclaimAck): void {
    const issued = this.#issued.find(ack.instructionId, session.cluster);
    if (issued === undefined) {
      this.#options.metrics.framesDropped.foreign_reclaim_ack.inc();
      this.#options.ignored.log({ cluster: session.cluster, reason: 'foreign_reclaim_ack' });
      return;
    }
    if (ack.phase === ReclaimPhase.FINISHED) this.#finished(issued, ack.results);
    else this.#started(issued, ack.nodesStarted);
  }

  /** A session was installed: it gets every instruction that still waits, with the grace left. */
  reissue(session: OperatorSession): void {
    const { cluster } = session;
    if (this.#heldSinceMs !== undefined) return void this.#unheard.add(cluster);
    const waits = [...this.#waits.values()].filter(({ request }) => request.cluster === cluster);
    for (const wait of waits) this.#operatorIsBack(wait);
    this.#telling.restart(
      cluster,
      waits.map(({ request }) => request.machineId),
    );
  }

  /** The session ended and has no successor: an operator that comes back soon gets its drains. */
  sessionLost(session: OperatorSession): void {
    this.#lost.add(session, this.#nowMs());
  }

  /** An administrator forgets the cluster: its operator is not expected back. */
  forget(cluster: string): void {
    this.#lost.forget(cluster);
  }

  /** Reconcile saw the machine in a state other than Configured, or gone: its drain is moot. */
  leave(machineId: string): void {
    this.#waits.get(machineId)?.timer.cancel();
    if (this.#waits.delete(machineId)) this.#publish();
  }

  /**
   * Every grace stands still until `resume`. A drain that the operator has started runs on: the shard
   * has no message that takes it back.
   */
  hold(): void {
    if (this.#heldSinceMs !== undefined) return;
    this.#heldSinceMs = this.#nowMs();
    for (const { timer } of this.#waits.values()) timer.cancel();
  }

  /** The graces run on, and operators that connected meanwhile hear of the drains that wait. */
  resume(): void {
    if (this.#heldSinceMs === undefined) return;
    const heldMs = this.#nowMs() - this.#heldSinceMs;
    this.#heldSinceMs = undefined;
    for (const wait of this.#waits.values()) {
      wait.deadlineMs += heldMs;
      if (wait.backByMs !== undefined) wait.backByMs += heldMs;
      wait.timer = this.#expireAt(wait.backByMs ?? wait.deadlineMs, wait.request.machineId);
    }
    // The other operators have heard of theirs and would be told twice.
    for (const cluster of this.#unheard) {
      const session = this.#options.sessions.sessionOf(cluster);
      if (session !== undefined) this.reissue(session);
    }
    this.#unheard.clear();
    this.#telling.resume();
  }

  /** Nothing that waits fires any more, nor is told again; acks for it are late, not forged. */
  abandon(): void {
    for (const { timer } of this.#waits.values()) timer.cancel();
    this.#waits.clear();
    this.#telling.clear();
    this.#publish();
  }

  /** The shard stops: nothing fires any more; the next process derives the drains again. */
  stop(): void {
    this.abandon();
    this.#issued.stop();
  }

  #tell(session: OperatorSession, machineId: string): void {
    const wait = this.#waits.get(machineId);
    if (wait?.request.cluster !== session.cluster) return;
    this.#instruct(session, wait.instructionId, wait.request, wait.deadlineMs - this.#nowMs());
  }

  /**
   * Half of the grace stays for the provider: nobody has asked the Pods to go. A drain that an operator
   * was told of is its own, connected or not.
   */
  #backByMs({ machineId, cluster, graceSeconds }: DrainRequest): number | undefined {
    const nowMs = this.#nowMs();
    const previous = this.#waits.get(machineId);
    const backByMs =
      previous === undefined ? this.#lost.backByMs(cluster, nowMs) : previous.backByMs;
    return backByMs === undefined ? undefined : Math.min(backByMs, nowMs + graceSeconds * 500);
  }

  #operatorIsBack(wait: Wait): void {
    if (wait.backByMs === undefined) return;
    wait.backByMs = undefined;
    wait.timer.cancel();
    wait.timer = this.#expireAt(wait.deadlineMs, wait.request.machineId);
  }

  #wait(request: DrainRequest, backByMs: number | undefined): DrainStart {
    assert(this.#heldSinceMs === undefined, 'a drain began although actuation is held');
    const { entropy } = this.#options.runtime;
    const { machineId, cluster } = request;
    const nowMs = this.#nowMs();
    const previous = this.#waits.get(machineId);
    const deadlineMs = Math.min(
      nowMs + request.graceSeconds * 1_000,
      previous?.deadlineMs ?? Infinity,
    );
    previous?.timer.cancel();
    const instructionId = newFrameId(entropy);
    const timer = this.#expireAt(backByMs ?? deadlineMs, machineId);
    this.#waits.set(machineId, { request, instructionId, deadlineMs, backByMs, timer });
    this.#publish();
    this.#telling.add(cluster, machineId);
    return { kind: 'waiting', deadlineMs };
  }

  #expireAt(atMs: number, machineId: string): Timer {
    return this.#options.wheel.after(atMs - this.#nowMs(), () => this.#expire(machineId));
  }

  #expire(machineId: string): void {
    const wait = this.#waits.get(machineId);
    if (wait?.backByMs === undefined) return this.#fire(machineId, 'grace_expired');
    this.#fallBack(wait.request);
    this.#fire(machineId, 'no_session');
  }

  /** The provider drains although no operator evicted anything within the budgets. */
  #fallBack({ kind, machineId: machine, cluster }: DrainRequest): void {
    this.#options.logger.event(stableMessages.reclaimFallback, { machine, cluster });
    this.#options.metrics.fallbacks[kind].inc();
  }

  #instruct(session: OperatorSession, id: string, request: DrainRequest, graceMs: number): void {
    const { machineId, cluster } = request;
    const node = this.#options.names.nameOf(machineId) ?? machineId;
    this.#issued.add(id, { cluster, machineId, node }, Math.max(0, graceMs));
    session.deliver(instructionFrame(request, { id, node, graceMs }));
  }

  #started({ machineId: machine, cluster, node }: IssuedInstruction, startedCount: number): void {
    if (startedCount >= 1) return;
    this.#options.logger.info('reclaim started on fewer nodes than instructed', {
      machine,
      cluster,
      node,
      nodes_started: startedCount,
    });
  }

  #finished(issued: IssuedInstruction, results: readonly NodeDrainResult[]): void {
    const result = results.find((entry) => names(entry, issued));
    const outcome = result === undefined ? undefined : outcomeOf(result.outcome);
    // Without an outcome that we know, nothing says that the node is empty: the grace decides.
    if (result === undefined || outcome === undefined) return;
    if (!this.#waits.has(issued.machineId)) return;
    if (outcome === 'forbidden' || outcome === 'node_not_found')
      this.#warn(issued, outcome, result);
    this.#fire(issued.machineId, outcome);
  }

  #warn({ machineId, cluster }: IssuedInstruction, outcome: string, result: NodeDrainResult): void {
    this.#options.logger.warn('operator could not drain; nobody evicted within budgets', {
      machine: machineId,
      cluster,
      outcome,
      node: result.node,
      err: result.error,
    });
  }

  #fire(machineId: string, outcome: DrainOperatorOutcome): void {
    const wait = this.#waits.get(machineId);
    if (wait === undefined) return;
    wait.timer.cancel();
    this.#waits.delete(machineId);
    this.#publish();
    this.#options.metrics.outcome(outcome).inc();
    const leftMs = wait.deadlineMs - (this.#heldSinceMs ?? this.#nowMs());
    const { preemptorPriority: _, ...request } = wait.request;
    const graceSeconds = Math.max(0, Math.floor(leftMs / 1_000));
    this.#options.onFire({ ...request, graceSeconds, outcome });
  }

  #nowMs(): number {
    return this.#options.runtime.clock.monotonicMs();
  }

  #publish(): void {
    this.#options.metrics.waiting.set(this.#waits.size);
  }
}

/** By machine id where the operator gives it, else by the node as the instruction named it. */
function names(result: NodeDrainResult, issued: IssuedInstruction): boolean {
  if (result.machineId !== '') return result.machineId === issued.machineId;
  return result.node === issued.node;
}

function outcomeOf(outcome: NodeDrainOutcome): DrainOperatorOutcome | undefined {
  switch (outcome) {
    case NodeDrainOutcome.EMPTY:
      return 'empty';
    case NodeDrainOutcome.DEADLINE:
      return 'deadline';
    case NodeDrainOutcome.FORBIDDEN:
      return 'forbidden';
    case NodeDrainOutcome.NODE_NOT_FOUND:
      return 'node_not_found';
    default:
      return undefined;
  }
}

// Reclaim instructions (kubernetes §4.3): cordon, ack STARTED, drain in the background, ack FINISHED
// when every node has an outcome. An instruction repeated under its id is the same one: it is
// answered again with what is known and may only shorten the grace. A new id for a node that was
// drained before is drained again, which is free when the node is empty: answering from memory could
// call a machine empty that was bound anew in between.
//
// Instructions are kept until the shard has forgotten them too (grace + 60 s), at most
// MAX_INSTRUCTIONS of them.

import { runWithDeadline, type Runtime } from '@bigfleet/base';
import {
  encodeInit,
  NodeDrainOutcome,
  OperatorMessageSchema,
  type ReclaimInstruction,
  ReclaimPhase,
} from '@bigfleet/wire';
import type { CordonOutcome, DrainOutcome, DrainTarget, InterruptedDrain } from './cluster-port.ts';
import type { BoundContext } from './context.ts';
import { type DrainRequest, Drains } from './drains.ts';
import { rethrowBug } from './supervisor.ts';
import * as messages from './log-messages.ts';
import type { WorkPool } from './work-pool.ts';

/** The stream of the moment, if there is one. */
export interface ReclaimReplies {
  /** The shard acknowledged `reclaim-completion`. */
  readonly hasCompletion: boolean;
  reply(frame: Uint8Array): 'queued' | 'dropped';
}

/** At the end of the lifetime drains end unreported and are resumed by the next process. */
export interface ReclaimsOptions extends BoundContext {
  readonly pool: WorkPool;
  readonly replies: () => ReclaimReplies | undefined;
}

const MAX_INSTRUCTIONS = 100_000;
const MAX_NODES_PER_INSTRUCTION = 10_000;
const CORDONS_AT_ONCE = 16;
const DEFAULT_GRACE_MS = 30_000;
/** The longest grace of the shard is ten minutes. */
const MAX_GRACE_MS = 86_400_000;
const KEPT_AFTER_GRACE_MS = 60_000;

interface Instruction {
  readonly id: string;
  readonly targets: readonly DrainTarget[];
  readonly preemptorPriority: number;
  readonly reasonCode: string;
  readonly expiresMs: number;
  /** Monotonic; only ever earlier. */
  deadlineMs: number;
  /** Undefined until the cordon is done. */
  nodesStarted: number | undefined;
  readonly results: (DrainResult | undefined)[];
}

export class Reclaims {
  readonly #options: ReclaimsOptions;
  readonly #drains: Drains;
  readonly #instructions = new Map<string, Instruction>();

  constructor(options: ReclaimsOptions) {
    this.#options = options;
    this.#drains = new Drains(options);
  }

  instruct(message: ReclaimInstruction): 'accepted' | 'refused' {
    const nowMs = this.#options.runtime.clock.monotonicMs();
    const deadlineMs = nowMs + graceMsOf(message);
    const known = this.#instructions.get(message.instructionId);
    if (known !== undefined) {
      this.#repeat(known, deadlineMs);
      return 'accepted';
    }
    this.#forgetExpired(nowMs);
    const isTooMuch = this.#instructions.size >= MAX_INSTRUCTIONS;
    if (isTooMuch || message.nodes.length > MAX_NODES_PER_INSTRUCTION) return 'refused';
    return this.#accept(instructionOf(message, deadlineMs));
  }

  /** A drain of an earlier process goes on; the shard's repeated instruction will join it. */
  resume({ target, instructionId, deadlineUnixMs }: InterruptedDrain): void {
    const { runtime, supervisor } = this.#options;
    const leftMs = deadlineUnixMs - unixMs(runtime);
    const deadlineMs = runtime.clock.monotonicMs() + Math.min(leftMs, MAX_GRACE_MS);
    supervisor.watch(this.#outcome({ target, instructionId, deadlineMs }).then(() => {}));
  }

  #accept(instruction: Instruction): 'accepted' | 'refused' {
    const { pool, logger } = this.#options;
    this.#instructions.set(instruction.id, instruction);
    if (pool.submit('reclaim', () => this.#begin(instruction)) === 'refused') {
      this.#instructions.delete(instruction.id);
      return 'refused';
    }
    logger.event(messages.reclaimInstruction, {
      id: instruction.id,
      nodes: instruction.targets.map(({ node }) => node),
      grace_seconds: Math.round(
        (instruction.deadlineMs - this.#options.runtime.clock.monotonicMs()) / 1_000,
      ),
      preemptor_priority: instruction.preemptorPriority,
    });
    return 'accepted';
  }

  async #begin(instruction: Instruction): Promise<void> {
    const cordons = await this.#cordonAll(instruction);
    instruction.nodesStarted = cordons.filter(({ kind }) => kind === 'cordoned').length;
    this.#replyStarted(instruction);
    for (const [index, target] of instruction.targets.entries()) {
      if (cordons[index]?.kind === 'not_found') this.#unresolved(instruction, index, target);
      else this.#options.supervisor.watch(this.#follow(instruction, index, target));
    }
    if (instruction.targets.length === 0) this.#replyFinished(instruction);
  }

  #repeat(instruction: Instruction, deadlineMs: number): void {
    instruction.deadlineMs = Math.min(instruction.deadlineMs, deadlineMs);
    for (const [index, target] of instruction.targets.entries()) {
      if (instruction.results[index] === undefined) this.#drains.shorten(target, deadlineMs);
    }
    // Until the cordon is done both acks are still to come by themselves.
    if (instruction.nodesStarted === undefined) return;
    this.#replyStarted(instruction);
    this.#replyFinished(instruction);
  }

  async #cordonAll(instruction: Instruction): Promise<CordonOutcome[]> {
    const outcomes: CordonOutcome[] = [];
    for (let at = 0; at < instruction.targets.length; at += CORDONS_AT_ONCE) {
      const targets = instruction.targets.slice(at, at + CORDONS_AT_ONCE);
      outcomes.push(...(await Promise.all(targets.map((t) => this.#cordon(instruction, t)))));
    }
    return outcomes;
  }

  /** Failures are not fatal: the drain is tried all the same and reports what stops it. */
  async #cordon(instruction: Instruction, target: DrainTarget): Promise<CordonOutcome> {
    const { runtime, cluster, settings, lifetime, logger } = this.#options;
    const { id: instructionId, preemptorPriority, reasonCode } = instruction;
    const leftMs = instruction.deadlineMs - runtime.clock.monotonicMs();
    const deadlineUnixMs = unixMs(runtime) + leftMs;
    const plan = { instructionId, deadlineUnixMs, preemptorPriority, reasonCode };
    const deadline = { ms: settings.handlerTimeoutMs, parent: lifetime };
    const outcome = await runWithDeadline(runtime, deadline, (signal) =>
      cluster.cordon(target, plan, signal),
    ).catch(failedCordon);
    if (outcome.kind === 'failed') {
      const { node } = target;
      logger.event(messages.cordonFailed, { id: instructionId, node, err: outcome.error });
    }
    return outcome;
  }

  #unresolved(instruction: Instruction, index: number, target: DrainTarget): void {
    const { metrics, logger } = this.#options;
    metrics.reclaimUnresolved.inc();
    const { node, machineId: machine } = target;
    logger.event(messages.reclaimUnresolved, { id: instruction.id, node, machine });
    this.#settle(instruction, index, { kind: 'node_not_found' });
  }

  async #follow(instruction: Instruction, index: number, target: DrainTarget): Promise<void> {
    const { id: instructionId, deadlineMs } = instruction;
    const outcome = await this.#outcome({ target, instructionId, deadlineMs });
    if (outcome !== undefined) this.#settle(instruction, index, outcome);
  }

  /** Undefined at shutdown. */
  async #outcome(request: DrainRequest): Promise<DrainOutcome | undefined> {
    try {
      return await this.#drains.join(request);
    } catch (thrown) {
      rethrowBug(thrown);
      if (this.#options.lifetime.aborted) return undefined;
      throw thrown;
    }
  }

  #settle(instruction: Instruction, index: number, outcome: DrainOutcome): void {
    const target = instruction.targets[index];
    if (target === undefined) return;
    instruction.results[index] = drainResult(target, outcome);
    this.#replyFinished(instruction);
  }

  #replyStarted({ id, nodesStarted = 0 }: Instruction): void {
    const hasCompletion = this.#options.replies()?.hasCompletion === true;
    const phase = hasCompletion ? ReclaimPhase.STARTED : ReclaimPhase.UNSPECIFIED;
    this.#reply(id, { nodesStarted, phase, results: [] });
  }

  /** Only when every node has an outcome, and only to a shard that asked for it. */
  #replyFinished({ id, nodesStarted = 0, results }: Instruction): void {
    const known = results.filter((result) => result !== undefined);
    if (known.length < results.length) return;
    if (this.#options.replies()?.hasCompletion !== true) return;
    this.#reply(id, { nodesStarted, phase: ReclaimPhase.FINISHED, results: known });
  }

  #reply(instructionId: string, ack: AckContent): void {
    const frame = encodeInit(OperatorMessageSchema, {
      payload: { case: 'reclaimAck', value: { instructionId, ...ack } },
    });
    if (this.#options.replies()?.reply(frame) === 'dropped') {
      this.#options.logger.event(messages.reclaimAckDropped, { id: instructionId });
    }
  }

  /** In the order in which they came; one that still drains keeps those behind it a little longer. */
  #forgetExpired(nowMs: number): void {
    for (const { id, expiresMs, results } of this.#instructions.values()) {
      if (expiresMs > nowMs || results.includes(undefined)) return;
      this.#instructions.delete(id);
    }
  }
}

interface AckContent {
  readonly nodesStarted: number;
  readonly phase: ReclaimPhase;
  readonly results: DrainResult[];
}

function instructionOf(message: ReclaimInstruction, deadlineMs: number): Instruction {
  const { instructionId: id, nodes, machineIds, preemptorPriority, reasonCode } = message;
  return {
    id,
    targets: nodes.map((node, index) => ({ node, machineId: machineIds[index] ?? '' })),
    preemptorPriority,
    reasonCode,
    expiresMs: deadlineMs + KEPT_AFTER_GRACE_MS,
    deadlineMs,
    nodesStarted: undefined,
    results: nodes.map(() => undefined),
  };
}

function graceMsOf({ gracePeriodSeconds }: ReclaimInstruction): number {
  if (gracePeriodSeconds <= 0n) return DEFAULT_GRACE_MS;
  return Math.min(Number(gracePeriodSeconds) * 1_000, MAX_GRACE_MS);
}

function failedCordon(thrown: unknown): CordonOutcome {
  rethrowBug(thrown);
  return { kind: 'failed', error: thrown instanceof Error ? thrown.message : String(thrown) };
}

function unixMs({ clock }: Runtime): number {
  return Number(clock.unixNanos() / 1_000_000n);
}

/** One node's drain, as the shard reads it in a FINISHED ack. */
interface DrainResult {
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
  // For a shard that drops it: it has no such instruction.
  given_up: NodeDrainOutcome.DEADLINE,
};

function drainResult({ node, machineId }: DrainTarget, outcome: DrainOutcome): DrainResult {
  return {
    node,
    machineId,
    outcome: WIRE_OUTCOMES[outcome.kind],
    podsRemaining: outcome.kind === 'deadline' ? outcome.podsRemaining : 0,
    error: 'error' in outcome ? (outcome.error ?? '') : '',
  };
}

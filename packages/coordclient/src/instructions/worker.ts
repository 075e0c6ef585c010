// Carries out instructions one after the other, in the order of their numbers, beside the reports: an
// instruction that waits for a provider must not hold up a heartbeat. Fenced by term at the moment of
// execution, deduplicated by id.
//
// Bound: MAX_QUEUED; what finds no room is delivered again with the next report.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { OrderOutcome, ShardControl } from '@bigfleet/shard';
import type { Logger } from '@bigfleet/telemetry';
import type { CoordinatorInstruction } from '@bigfleet/wire';
import { ackOf, duplicateAck, type InstructAckInit, staleAck, type AckQueue } from './acks.ts';
import { executeInstruction } from './execute.ts';

const MAX_QUEUED = 512;

export interface InstructionWorkerOptions {
  readonly control: ShardControl;
  readonly acks: AckQueue;
  /** As of now: a newer leader may have spoken since the instruction came. */
  readonly term: () => bigint;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export class InstructionWorker {
  readonly #options: InstructionWorkerOptions;
  readonly #done = new DoneSet();
  readonly #queue: CoordinatorInstruction[] = [];
  #runningId = '';
  #isRunning = false;
  #idle: Promise<void> = Promise.resolve();

  constructor(options: InstructionWorkerOptions) {
    this.#options = options;
  }

  get idle(): Promise<void> {
    return this.#idle;
  }

  take(instructions: readonly CoordinatorInstruction[]): void {
    const ordered = instructions
      .filter(({ instructionId }) => instructionId !== '' && !this.#isKnown(instructionId))
      .sort((a, b) => compare(a.sequenceNumber, b.sequenceNumber));
    this.#queue.push(...ordered.slice(0, MAX_QUEUED - this.#queue.length));
    if (!this.#isRunning) this.#idle = this.#run();
  }

  #isKnown(id: string): boolean {
    return this.#runningId === id || this.#queue.some(({ instructionId }) => instructionId === id);
  }

  async #run(): Promise<void> {
    const { acks, signal } = this.#options;
    this.#isRunning = true;
    for (;;) {
      const instruction = signal.aborted ? undefined : this.#queue.shift();
      if (instruction === undefined) break;
      this.#runningId = instruction.instructionId;
      const ack = await this.#handle(instruction);
      this.#runningId = '';
      if (ack !== undefined) acks.push(ack);
    }
    this.#isRunning = false;
  }

  /** Undefined when the first acknowledgement still waits: it must not be hidden. */
  async #handle(instruction: CoordinatorInstruction): Promise<InstructAckInit | undefined> {
    const { instructionId, coordinatorTerm } = instruction;
    const first = this.#done.find(instructionId);
    if (first !== undefined) {
      return this.#options.acks.has(instructionId) ? undefined : duplicateAck(first);
    }
    const term = this.#options.term();
    if (coordinatorTerm < term) {
      return staleAck(instructionId, `term ${coordinatorTerm} is older than ${term}`);
    }
    const outcome = await this.#execute(instruction);
    const ack = ackOf(instructionId, outcome);
    if (outcome.kind === 'accepted') this.#done.add(instructionId, ack);
    return ack;
  }

  async #execute(instruction: CoordinatorInstruction): Promise<OrderOutcome> {
    const { control, logger } = this.#options;
    const { instructionId, payload } = instruction;
    const fields = { instruction_id: instructionId, kind: payload.case ?? 'unknown' };
    try {
      const outcome = await executeInstruction(control, instruction);
      if (outcome.kind === 'accepted') logger.info('instruction accepted', fields);
      else logger.warn(`instruction ${outcome.kind}`, { ...fields, err: outcome.detail });
      return outcome;
    } catch (error) {
      // Whatever it was, the leader may try again; a bug leaves its trace in the log.
      const err = error instanceof BigFleetError ? error.message : stackOf(error);
      logger.error('instruction failed', { ...fields, err });
      return { kind: 'failed', code: '', detail: describeThrown(error) };
    }
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

export function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? describeThrown(error);
}

const MAX_DONE = 10_000;

/**
 * Acks of instructions that were accepted, so that one which is delivered again is acknowledged and
 * not repeated. A failed instruction is not among them: it is meant to be tried again. The oldest is
 * forgotten first; an order that is repeated after that is idempotent by its transfer.
 */
export class DoneSet {
  readonly #acks = new Map<string, InstructAckInit>();
  readonly #capacity: number;

  constructor(capacity: number = MAX_DONE) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#acks.size;
  }

  /** The acknowledgement of then; its use makes it the newest. */
  find(instructionId: string): InstructAckInit | undefined {
    const ack = this.#acks.get(instructionId);
    if (ack === undefined) return undefined;
    this.#acks.delete(instructionId);
    this.#acks.set(instructionId, ack);
    return ack;
  }

  add(instructionId: string, ack: InstructAckInit): void {
    this.#acks.delete(instructionId);
    this.#acks.set(instructionId, ack);
    if (this.#acks.size <= this.#capacity) return;
    const [oldest] = this.#acks.keys();
    if (oldest !== undefined) this.#acks.delete(oldest);
  }
}

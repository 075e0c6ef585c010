// Instructions that a shard has not acknowledged yet (coordinator §8). The queue of one leadership:
// after an election it is empty, and what must be said is derived again from the ledger and fresh
// reports.
// There is no timer: everything pending rides on every reply until an ack settles it. It refuses to
// clear what FAILED, because clearing on every outcome silently drops failed moves.

import type { Runtime } from '@bigfleet/base';
import { type CoordinatorInstruction, type InstructAck, InstructAck_Outcome } from '@bigfleet/wire';

/** Per shard. */
export const MAX_PENDING_PER_SHARD = 256;
/** FAILED acks until an instruction is dropped. */
export const MAX_FAILURES = 5;

const ID_BYTES = 8;

export interface PendingInstruction {
  readonly shardId: string;
  readonly instruction: CoordinatorInstruction;
  /** FAILED acks so far; after the fifth it is dropped. */
  readonly failures: number;
  /** The transfer or drain that it belongs to, so that its ack finds its saga. */
  readonly transferId: string;
}

/** The payload of an instruction without its envelope, which the queue mints. */
export type InstructionPayload = CoordinatorInstruction['payload'];

/**
 * `kept`: redelivered under the same id. `exhausted`: failed too often and dropped. `stale`: the
 * shard knows a newer term, so this leader must doubt itself (coordinator §3.5).
 */
export type AckEffect = 'accepted' | 'stale' | 'invalid' | 'kept' | 'exhausted';

export interface Settled {
  readonly effect: AckEffect;
  /** `failures` counts this ack; at MAX_FAILURES the instruction is gone from the queue. */
  readonly pending: PendingInstruction;
}

export class InstructionQueue {
  readonly #entropy: Runtime['entropy'];
  readonly #term: bigint;
  /** By shard, then by id in the order of minting, which is the order of sequence numbers. */
  readonly #pending = new Map<string, Map<string, PendingInstruction>>();
  #nextSequence = 1n;

  /** `term`: of this leadership. */
  constructor({ entropy }: Pick<Runtime, 'entropy'>, term: bigint) {
    this.#entropy = entropy;
    this.#term = term;
  }

  /** `full` at 256 pending for that shard: the caller tries again in a later pass. */
  enqueue(
    shardId: string,
    payload: InstructionPayload,
    transferId: string,
  ): PendingInstruction | 'full' {
    const ofShard = this.#pending.get(shardId) ?? new Map<string, PendingInstruction>();
    if (ofShard.size >= MAX_PENDING_PER_SHARD) return 'full';
    const pending = { shardId, instruction: this.#mint(payload), failures: 0, transferId };
    ofShard.set(pending.instruction.instructionId, pending);
    this.#pending.set(shardId, ofShard);
    return pending;
  }

  /** In ascending sequence. */
  pending(shardId: string): readonly PendingInstruction[] {
    return [...(this.#pending.get(shardId)?.values() ?? [])];
  }

  count(shardId: string): number {
    return this.#pending.get(shardId)?.size ?? 0;
  }

  /**
   * The table of coordinator §8.3. Undefined: an id that is not pending here, or not for this shard,
   * changes nothing.
   */
  settle(shardId: string, ack: InstructAck): Settled | undefined {
    const known = this.#pending.get(shardId)?.get(ack.instructionId);
    if (known === undefined) return undefined;
    const effect = effectOf(ack.outcome, known.failures);
    const failed = effect === 'kept' || effect === 'exhausted';
    const pending = failed ? { ...known, failures: known.failures + 1 } : known;
    if (effect === 'kept') this.#pending.get(shardId)?.set(ack.instructionId, pending);
    else this.withdraw(shardId, ack.instructionId);
    return { effect, pending };
  }

  /** What a saga no longer wants said, such as a PREPARE that it cancelled. */
  withdraw(shardId: string, instructionId: string): void {
    const ofShard = this.#pending.get(shardId);
    ofShard?.delete(instructionId);
    if (ofShard?.size === 0) this.#pending.delete(shardId);
  }

  /** The shard was removed: a successor of the same name must not hear what was meant for it. */
  clear(shardId: string): void {
    this.#pending.delete(shardId);
  }

  #mint(payload: InstructionPayload): CoordinatorInstruction {
    return {
      $typeName: 'bigfleet.v1alpha1.CoordinatorInstruction',
      coordinatorTerm: this.#term,
      sequenceNumber: this.#nextSequence++,
      instructionId: Buffer.from(this.#entropy.bytes(ID_BYTES)).toString('hex'),
      payload,
    };
  }
}

/** An outcome that we do not know is a failure: kept, and bounded like one. */
function effectOf(outcome: InstructAck['outcome'], failuresBefore: number): AckEffect {
  switch (outcome) {
    case InstructAck_Outcome.ACCEPTED:
      return 'accepted';
    case InstructAck_Outcome.REJECTED_STALE:
      return 'stale';
    case InstructAck_Outcome.REJECTED_INVALID:
      return 'invalid';
    default:
      return failuresBefore + 1 < MAX_FAILURES ? 'kept' : 'exhausted';
  }
}

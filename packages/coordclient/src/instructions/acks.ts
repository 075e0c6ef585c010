// Acknowledgements on their way to the coordinator, in order. A report takes some along; when it does
// not reach the leader they go back to the front. One per instruction: the newest counts, but a
// repetition never hides the first word.
//
// Bound: an acknowledgement that finds no room is dropped and counted; its instruction is delivered
// again and acknowledged again.

import type { InstructionReason } from '@bigfleet/base';
import type { OrderOutcome } from '@bigfleet/shard';
import type { Counter } from '@bigfleet/telemetry';
import { fromMap, InstructAck_Outcome, type InstructAckSchema } from '@bigfleet/wire';
import type { Init } from '../wire/report.ts';

const MAX_WAITING = 1_024;
/** A report stays small; a leader has at most this many instructions open. */
const MAX_PER_REPORT = 256;

export class AckQueue {
  readonly #dropped: Counter;
  #waiting: InstructAckInit[] = [];

  constructor(dropped: Counter) {
    this.#dropped = dropped;
  }

  get size(): number {
    return this.#waiting.length;
  }

  push(ack: InstructAckInit): void {
    const at = this.#waiting.findIndex(({ instructionId }) => instructionId === ack.instructionId);
    if (at >= 0) {
      this.#waiting[at] = ack;
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#waiting.push(ack);
    } else {
      this.#dropped.inc();
    }
  }

  has(instructionId: string): boolean {
    return this.#waiting.some((ack) => ack.instructionId === instructionId);
  }

  take(): readonly InstructAckInit[] {
    const taken = this.#waiting.slice(0, MAX_PER_REPORT);
    this.#waiting = this.#waiting.slice(taken.length);
    return taken;
  }

  /** The report did not deliver them. A newer ack of the same instruction stands instead. */
  putBack(acks: readonly InstructAckInit[]): void {
    const newer = new Set(this.#waiting.map(({ instructionId }) => instructionId));
    const back = acks.filter(({ instructionId }) => !newer.has(instructionId ?? ''));
    const all = [...back, ...this.#waiting];
    this.#dropped.inc(Math.max(0, all.length - MAX_WAITING));
    this.#waiting = all.slice(0, MAX_WAITING);
  }
}

export type InstructAckInit = Init<typeof InstructAckSchema>;

/** How an instruction ended, as the coordinator hears it (coordinator §6.2, §8.3). */
export function ackOf(instructionId: string, outcome: OrderOutcome): InstructAckInit {
  if (outcome.kind !== 'accepted') {
    const { REJECTED_INVALID, FAILED } = InstructAck_Outcome;
    return refusal(instructionId, outcome.kind === 'rejected' ? REJECTED_INVALID : FAILED, outcome);
  }
  const { machineIds = [], covered } = outcome;
  return {
    instructionId,
    outcome: InstructAck_Outcome.ACCEPTED,
    machineIds: [...machineIds],
    ...(covered === undefined ? {} : { covered: { resources: fromMap(covered) } }),
  };
}

export function staleAck(instructionId: string, detail: string): InstructAckInit {
  const code: InstructionReason = 'stale_term';
  return refusal(instructionId, InstructAck_Outcome.REJECTED_STALE, { code, detail });
}

/** With the ids and quantities of the first ack: the leader may have missed them. */
export function duplicateAck(first: InstructAckInit): InstructAckInit {
  const reasonCode: InstructionReason = 'duplicate_redelivery';
  return { ...first, reason: 'duplicate-redelivery', reasonCode };
}

function refusal(
  instructionId: string,
  outcome: InstructAck_Outcome,
  { code, detail }: { readonly code: InstructionReason | ''; readonly detail: string },
): InstructAckInit {
  return { instructionId, outcome, reason: detail, reasonCode: code };
}

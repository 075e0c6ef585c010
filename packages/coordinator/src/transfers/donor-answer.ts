// What the donor answered to PREPARE or to its smaller slice, in this leadership. Soft: after an
// election the question is asked again, and a donor that stands still answers the same from its file.

import { type PendingInstruction, MAX_FAILURES } from '../instructions/instruction-queue.ts';
import { type InstructAck, InstructAck_Outcome, entriesSorted } from '@bigfleet/wire';

export type DonorAnswer =
  | {
      readonly kind: 'accepted';
      readonly machineIds: readonly string[];
      /** Undefined from a shard that does not say: nothing can be judged, so nothing moves. */
      readonly covered: readonly (readonly [string, string])[] | undefined;
    }
  | { readonly kind: 'rejected'; readonly reasonCode: string }
  | { readonly kind: 'failed' };

/**
 * Undefined: the ack answers nothing. A shard that only remembers having executed the instruction
 * does not repeat its result; the question goes out again under a new id and is answered in full.
 */
export function answerOf(pending: PendingInstruction, ack: InstructAck): DonorAnswer | undefined {
  switch (ack.outcome) {
    case InstructAck_Outcome.ACCEPTED: {
      if (ack.reasonCode === 'duplicate_redelivery' && ack.machineIds.length === 0)
        return undefined;
      const covered = ack.covered && entriesSorted(ack.covered.resources);
      return { kind: 'accepted', machineIds: [...ack.machineIds], covered };
    }
    case InstructAck_Outcome.REJECTED_INVALID:
      return { kind: 'rejected', reasonCode: ack.reasonCode };
    case InstructAck_Outcome.REJECTED_STALE:
      return undefined;
    default:
      return pending.failures >= MAX_FAILURES ? { kind: 'failed' } : undefined;
  }
}

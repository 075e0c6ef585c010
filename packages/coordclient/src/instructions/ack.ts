// How the end of an instruction is told to the coordinator (coordinator §6.2, §8.3).

import type { InstructionReason } from '@bigfleet/base';
import type { OrderOutcome } from '@bigfleet/shard';
import { fromMap, InstructAck_Outcome, type InstructAckSchema } from '@bigfleet/wire';
import type { Init } from '../wire/init.ts';

export type InstructAckInit = Init<typeof InstructAckSchema>;

export function ackOf(instructionId: string, outcome: OrderOutcome): InstructAckInit {
  switch (outcome.kind) {
    case 'accepted':
      return {
        instructionId,
        outcome: InstructAck_Outcome.ACCEPTED,
        machineIds: [...(outcome.machineIds ?? [])],
        ...(outcome.covered === undefined
          ? {}
          : { covered: { resources: fromMap(outcome.covered) } }),
      };
    case 'rejected':
      return refusal(instructionId, InstructAck_Outcome.REJECTED_INVALID, outcome);
    case 'failed':
      return refusal(instructionId, InstructAck_Outcome.FAILED, outcome);
  }
}

export function staleAck(instructionId: string, detail: string): InstructAckInit {
  const code: InstructionReason = 'stale_term';
  return refusal(instructionId, InstructAck_Outcome.REJECTED_STALE, { code, detail });
}

/** The ids and quantities of then: whoever missed them the first time needs them. */
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

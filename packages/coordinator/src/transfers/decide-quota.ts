// The next step of a move of quota (coordinator §9.4, tier 2): the donor's slice is lower in the ledger first,
// the donor confirms, and only then the recipient's slice rises. The sum of slices never exceeds the
// declared quota, whichever process dies in between. A slice that the donor does not confirm is restored.

import type { TransferAbort } from '@bigfleet/base';
import type { SagaFacts, SagaStep } from './saga-facts.ts';

const QUOTA_TIMEOUT_MS = 10 * 60_000;

const NOTHING: readonly SagaStep[] = [];

export function decideQuota(facts: SagaFacts): readonly SagaStep[] {
  const { row, recipient } = facts;
  if (row.phase === 'COMMITTED') {
    // Its next assignment says the same; the instruction only says it sooner.
    const tell: readonly SagaStep[] = [{ do: 'tell-slice', shardId: row.to }];
    return recipient.isRegistered ? [...tell, { do: 'finish' }] : [{ do: 'finish' }];
  }
  if (row.phase !== 'PREPARING') return NOTHING;
  const reason = giveUpReason(facts);
  // Restored, or never shrunk: the leader died in between, and how much was to move died with it.
  if (row.quota?.step !== 'SHRUNK') return [{ do: 'abort', reason: reason ?? 'ack_timeout' }];
  if (reason !== undefined) return [{ do: 'give-back' }];
  if (facts.answer?.kind === 'accepted') return [{ do: 'grow' }];
  return [{ do: 'tell-slice', shardId: row.from }];
}

function giveUpReason(facts: SagaFacts): TransferAbort | undefined {
  const { donor, recipient, answer } = facts;
  if (!recipient.isRegistered) return 'recipient_removed';
  if (!donor.isRegistered) return 'donor_stale';
  if (facts.isDoubtful) return 'provider_recovering';
  if (answer?.kind === 'rejected' || answer?.kind === 'failed') return 'donor_rejected';
  if (recipient.hasReported && !recipient.isFresh) return 'recipient_stale';
  if (facts.ageMs <= QUOTA_TIMEOUT_MS) return undefined;
  return donor.isFresh ? 'ack_timeout' : 'donor_stale';
}

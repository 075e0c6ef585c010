// The next step of a transfer of machines (§9.6). Invariant T: the owner changes in one commit, made
// only while the old owner durably stands still, which only its own acknowledgement proves. An abort
// is final in the ledger before the donor may thaw. Nothing here has a time after which a donor
// thaws by itself: the commit may have happened where it cannot see it.

import type { TransferAbort } from '@bigfleet/base';
import { isWorthMoving } from './benefit.ts';
import type { SagaFacts, SagaStep } from './saga-step.ts';

const PREPARE_TIMEOUT_MS = 5 * 60_000;

const NOTHING: readonly SagaStep[] = [];

export function decideMachines(facts: SagaFacts): readonly SagaStep[] {
  switch (facts.row.phase) {
    case 'PREPARING':
      return prepare(facts);
    case 'COMMITTED':
      return complete(facts);
    case 'ABORTED':
      return thaw(facts);
    case 'DONE':
      return facts.donor.isFrozen ? [tellDonor(facts, 'RELEASE')] : NOTHING;
  }
}

function prepare(facts: SagaFacts): readonly SagaStep[] {
  const { recipient } = facts;
  // Proof of a commit that this ledger has forgotten: a restore went back behind it.
  if (isCommitted(facts)) return [recommit(facts)];
  const reason = abortReason(facts);
  if (reason !== undefined) return [{ do: 'abort', reason }];
  if (facts.isDoubtful) return NOTHING;
  const { answer } = facts;
  if (answer?.kind !== 'accepted') return [tellDonor(facts, 'PREPARE')];
  // A recipient that has not spoken yet may be dead, and a commit cannot be taken back.
  return recipient.hasReported ? [{ do: 'commit', machineIds: answer.machineIds }] : NOTHING;
}

function abortReason(facts: SagaFacts): TransferAbort | undefined {
  const { donor, recipient, answer } = facts;
  if (!recipient.isRegistered) return 'recipient_removed';
  if (!donor.isRegistered) return 'donor_stale';
  if (facts.isDoubtful) {
    return donor.hasHeardUs && recipient.hasHeardUs ? 'provider_recovering' : undefined;
  }
  if (answer?.kind === 'rejected' || answer?.kind === 'failed') return 'donor_rejected';
  if (recipient.hasReported ? !recipient.isFresh : facts.ageMs > PREPARE_TIMEOUT_MS) {
    return 'recipient_stale';
  }
  if (answer?.kind === 'accepted') return unworthy(facts, answer);
  if (facts.ageMs <= PREPARE_TIMEOUT_MS) return undefined;
  return donor.isFresh ? 'ack_timeout' : 'donor_stale';
}

type Accepted = Extract<NonNullable<SagaFacts['answer']>, { kind: 'accepted' }>;

function unworthy(facts: SagaFacts, answer: Accepted): TransferAbort | undefined {
  const { selector } = facts.row;
  const { machineIds, covered } = answer;
  if (selector === null || covered === undefined) return 'donor_rejected';
  if (machineIds.length === 0 || machineIds.length > selector.count) return 'donor_rejected';
  if (machineIds.some((id) => facts.isMachineCooling(id))) return 'benefit_too_small';
  return isWorthMoving(covered, selector.deficit, facts.minBenefit)
    ? undefined
    : 'benefit_too_small';
}

/** A side that was removed has nothing to confirm: its rows died with it. */
function complete(facts: SagaFacts): readonly SagaStep[] {
  const { donor, recipient, row } = facts;
  const isReleased = donor.isReleased || !donor.isRegistered;
  const isClaimed = recipient.isClaimed || !recipient.isRegistered;
  // Moved on since: saying CLAIM again would take machines from whom they went to.
  if ((isReleased && isClaimed) || facts.liveIds.length === 0) return [{ do: 'finish' }];
  if (facts.isDoubtful && facts.isRecovering) return NOTHING;
  const steps: SagaStep[] = [];
  if (!isClaimed) steps.push({ do: 'tell', shardId: row.to, order: 'CLAIM' });
  if (!isReleased) steps.push(tellDonor(facts, 'RELEASE'));
  return steps;
}

/** Also when it froze only after the abort, by an instruction that was late. */
function thaw(facts: SagaFacts): readonly SagaStep[] {
  if (isCommitted(facts)) return [recommit(facts)];
  return facts.donor.isFrozen ? [tellDonor(facts, 'CANCEL')] : NOTHING;
}

/**
 * By what the shards say, whatever this ledger says. What a donor released to a shard that was removed
 * since died with that shard; a namesake that registered later must not inherit it.
 */
function isCommitted({ donor, recipient }: SagaFacts): boolean {
  return recipient.isClaimed || (donor.isReleased && recipient.isRegistered);
}

function recommit({ donor, recipient }: SagaFacts): SagaStep {
  const machineIds = recipient.isClaimed ? recipient.machineIds : donor.machineIds;
  return { do: 'recommit', machineIds };
}

function tellDonor({ row }: SagaFacts, order: 'PREPARE' | 'RELEASE' | 'CANCEL'): SagaStep {
  return { do: 'tell', shardId: row.from, order };
}

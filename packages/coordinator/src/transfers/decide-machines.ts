// The next step of a transfer of machines (coordinator §9.6). Invariant T: the owner changes in one
// commit, made only while the old owner durably stands still, which only its own acknowledgement
// proves. An abort is final in the ledger before the donor may thaw. Nothing here has a time after
// which a donor thaws by itself: the commit may have happened where it cannot see it.

import { type TransferAbort, toQuanta } from '@bigfleet/base';
import { orderOfFrozen, type SagaFacts, type SagaStep } from './saga-facts.ts';

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

/**
 * Nobody is told anything here: the assignment in the answer to each side's next report names the
 * machines as adopted or released, and that is the order. The record waits until both sides report that
 * they have followed it. A side that was removed has nothing to confirm: its rows died with it.
 */
function complete(facts: SagaFacts): readonly SagaStep[] {
  const { donor, recipient } = facts;
  // Every machine has moved on since, or its recipient was removed: no assignment names them any more.
  if (facts.liveIds.length === 0) return [{ do: 'finish' }];
  if (facts.isDoubtful) return completeInDoubt(facts);
  // A donor that lost its disk has no record of the transfer; that it follows the assignment is enough.
  const hasLetGo = donor.isReleased || (facts.donorFollows && !donor.isFrozen);
  const isReleased = hasLetGo || !donor.isRegistered;
  const isClaimed = recipient.isClaimed || !recipient.isRegistered;
  return isReleased && isClaimed ? [{ do: 'finish' }] : NOTHING;
}

/**
 * Without its own claim the recipient may be a later shard of the same name, and recovery clears overrides
 * that it does not hold (recovery-machine.ts). A donor that is not frozen any more is told nothing: it may
 * own some of the machines again.
 */
function completeInDoubt(facts: SagaFacts): readonly SagaStep[] {
  const { donor, recipient } = facts;
  if (!recipient.isClaimed && facts.isRecovering) return NOTHING;
  if (donor.isFrozen) return [tellDonor(facts, 'RELEASE')];
  return donor.hasHeardUs || !donor.isRegistered ? [{ do: 'finish' }] : NOTHING;
}

/** A late PREPARE can freeze a donor after the abort; the donor is thawed then too. */
function thaw(facts: SagaFacts): readonly SagaStep[] {
  if (isCommitted(facts)) return [recommit(facts)];
  const { donor, recipient, isDoubtful } = facts;
  if (!donor.isFrozen) return NOTHING;
  // The recipient may have claimed the machines after the snapshot.
  if (isDoubtful && recipient.isRegistered && !recipient.hasHeardUs) return NOTHING;
  const order = isDoubtful ? orderOfFrozen(facts.donorHolds) : 'CANCEL';
  return order === 'wait' ? NOTHING : [tellDonor(facts, order)];
}

/**
 * Whether the shards prove a commit, also against this ledger. Machines that a donor released to a shard
 * which was removed since went back to their domain or home; a later shard of that name must not inherit
 * them. After a restore the ledger cannot tell the two apart, so only the recipient's own claim proves.
 */
function isCommitted({ donor, recipient, isDoubtful }: SagaFacts): boolean {
  if (recipient.isClaimed) return true;
  return !isDoubtful && donor.isReleased && recipient.isRegistered;
}

function recommit({ donor, recipient }: SagaFacts): SagaStep {
  const machineIds = recipient.isClaimed ? recipient.machineIds : donor.machineIds;
  return { do: 'recommit', machineIds };
}

function tellDonor({ row }: SagaFacts, order: 'PREPARE' | 'RELEASE' | 'CANCEL'): SagaStep {
  return { do: 'tell', shardId: row.from, order };
}

type Resources = readonly (readonly [string, string])[];

/**
 * Whether the machines cover enough of some dimension of the deficit. Below that a move and its way
 * back cost more than either gains, and both would look reasonable.
 */
export function isWorthMoving(covered: Resources, deficit: Resources, minShare: number): boolean {
  const provided = new Map(covered);
  return deficit.some(([name, text]) => {
    const missing = toQuanta(text, name, 'demand');
    const given = toQuanta(provided.get(name) ?? '0', name, 'allocatable');
    if (!missing.ok || !given.ok || missing.value === 0) return false;
    return given.value >= minShare * missing.value;
  });
}

// Faults that can be planted into the shards, into the rules of the sagas or into the operator. Each
// breaks one rule of coordinator §9.4 to §9.6 or §10.5, and the seeds must notice every one of them:
// a check that cannot fail proves nothing.

import { Cooldowns, type SagaFacts, type SagaRules, sagaRules } from '@bigfleet/coordinator';
import { TransferState } from '@bigfleet/wire';

export type ShardFault =
  | 'thaws-by-itself'
  | 'acks-before-persisting'
  | 'releases-before-persisting'
  | 'obeys-an-incomplete-assignment'
  | 'ignores-what-is-released'
  | 'hides-its-home'
  | 'names-nobody';

export type LeaderFault =
  | 'commits-before-the-ack'
  | 'cancels-without-asking-the-peer'
  | 'thaws-what-it-doubts'
  | 'grows-before-the-ack'
  | 'cancels-after-the-commit'
  | 'forgets-cooldowns';

/**
 * A broken rule that breaks no law, because another rule stands behind it. A leader that takes RELEASED
 * alone for a commit after a restore gives the machine to the recipient's namesake in the ledger only:
 * the namesake hears of machines by its assignment, which is incomplete until recovery has cleared what
 * its owner does not hold. While a claim was an instruction, this was a machine with two owners.
 */
export type ToleratedFault = 'believes-a-release';

export const TOLERATED_FAULTS: readonly ToleratedFault[] = ['believes-a-release'];

/** Of whoever removes shards. */
export type OperatorFault = 'gives-up-the-living';

export const OPERATOR_FAULTS: readonly OperatorFault[] = ['gives-up-the-living'];

/** Of the disk under production code. */
export type DiskFault = 'lies-about-writes';

export type PlantedFault = ShardFault | LeaderFault | OperatorFault | DiskFault | ToleratedFault;

export const SHARD_FAULTS: readonly ShardFault[] = [
  'thaws-by-itself',
  'acks-before-persisting',
  'releases-before-persisting',
  'obeys-an-incomplete-assignment',
  'ignores-what-is-released',
  'hides-its-home',
  'names-nobody',
];

export const DISK_FAULTS: readonly DiskFault[] = ['lies-about-writes'];

export const LEADER_FAULTS: readonly LeaderFault[] = [
  'commits-before-the-ack',
  'cancels-without-asking-the-peer',
  'thaws-what-it-doubts',
  'grows-before-the-ack',
  'cancels-after-the-commit',
  'forgets-cooldowns',
];

class NoCooldowns extends Cooldowns {
  override isFlowCooling(): boolean {
    return false;
  }

  override isMachineCooling(): boolean {
    return false;
  }
}

export function cooldownsOf(fault: PlantedFault | undefined): Cooldowns {
  return fault === 'forgets-cooldowns' ? new NoCooldowns() : new Cooldowns();
}

/** `idleOf`: machines that a leader without an ack would have to guess. */
export function rulesOf(
  fault: PlantedFault | undefined,
  idleOf: (shardId: string) => readonly string[],
): SagaRules {
  const { decide, decideLost } = sagaRules;
  switch (fault) {
    case 'commits-before-the-ack':
      return {
        decideLost,
        decide: (facts) => {
          const machineIds = idleOf(facts.row.from).slice(0, 1);
          const isEarly = facts.row.tier === 1 && facts.row.phase === 'PREPARING';
          return isEarly && machineIds.length > 0 ? [{ do: 'commit', machineIds }] : decide(facts);
        },
      };
    case 'cancels-without-asking-the-peer':
      return {
        decide,
        decideLost: (facts) =>
          decideLost({ ...facts, peer: { ...facts.peer, hasHeardUs: true, isClaimed: false } }),
      };
    case 'thaws-what-it-doubts':
      return { decideLost, decide: (facts) => decide(facts.isDoubtful ? certain(facts) : facts) };
    case 'grows-before-the-ack':
      return {
        decideLost,
        decide: (facts) => (facts.row.quota?.step === 'SHRUNK' ? [{ do: 'grow' }] : decide(facts)),
      };
    case 'cancels-after-the-commit':
      return {
        decideLost,
        decide: (facts) =>
          facts.row.phase === 'COMMITTED' && facts.donor.isFrozen
            ? [...decide(facts), { do: 'tell', shardId: facts.row.from, order: 'CANCEL' }]
            : decide(facts),
      };
    case 'believes-a-release':
      return {
        decideLost: (facts) =>
          decideLost({ ...facts, peer: { ...facts.peer, isClaimed: isReleased(facts) } }),
        decide: (facts) =>
          decide({ ...facts, isDoubtful: facts.isDoubtful && !facts.donor.isReleased }),
      };
    default:
      return sagaRules;
  }
}

type LostFacts = Parameters<SagaRules['decideLost']>[0];

function isReleased({ status, peer }: LostFacts): boolean {
  return peer.isClaimed || status.state === TransferState.RELEASED;
}

/** As if everybody had spoken who has not. */
function certain(facts: SagaFacts): SagaFacts {
  const donor = { ...facts.donor, hasHeardUs: true };
  const recipient = { ...facts.recipient, hasHeardUs: true };
  const donorHolds = facts.donorHolds === 'unknown' ? 'by-rule' : facts.donorHolds;
  return { ...facts, donor, recipient, donorHolds };
}

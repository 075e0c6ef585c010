// Faults that can be planted into the shards or into the rules of the sagas. Each breaks one rule of
// coordinator §9.4 to §9.6, and the seeds must notice every one of them: a check that cannot fail
// proves nothing.

import { Cooldowns, type SagaRules, sagaRules } from '@bigfleet/coordinator';

export type ShardFault =
  | 'thaws-by-itself'
  | 'acks-before-persisting'
  | 'releases-before-persisting'
  | 'obeys-an-incomplete-assignment';

export type LeaderFault =
  | 'commits-before-the-ack'
  | 'cancels-without-asking-the-peer'
  | 'aborts-what-it-doubts'
  | 'grows-before-the-ack'
  | 'cancels-after-the-commit'
  | 'forgets-cooldowns';

/** Of the disk under production code. */
export type DiskFault = 'lies-about-writes';

export type PlantedFault = ShardFault | LeaderFault | DiskFault;

export const SHARD_FAULTS: readonly ShardFault[] = [
  'thaws-by-itself',
  'acks-before-persisting',
  'releases-before-persisting',
  'obeys-an-incomplete-assignment',
];

export const DISK_FAULTS: readonly DiskFault[] = ['lies-about-writes'];

export const LEADER_FAULTS: readonly LeaderFault[] = [
  'commits-before-the-ack',
  'cancels-without-asking-the-peer',
  'aborts-what-it-doubts',
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
    case 'aborts-what-it-doubts':
      return {
        decideLost,
        decide: (facts) =>
          facts.row.tier === 1 && facts.row.phase === 'PREPARING' && facts.isDoubtful
            ? [{ do: 'abort', reason: 'provider_recovering' }]
            : decide(facts),
      };
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
    default:
      return sagaRules;
  }
}

// What has happened in a seed, counted: seeds in which nothing happens prove nothing.

import type { CoordinatorObserver, SagaRules } from '@bigfleet/coordinator';

export interface Tally {
  deaths: number;
  elections: number;
  restores: number;
  /** Of those, to a ledger that had a removed shard again, or did not know one that existed. */
  restoredRemoved: number;
  restoredUnknown: number;
  lostMessages: number;
  commits: number;
  aborts: number;
  quotaMoves: number;
  /** Transfers that a shard named and the ledger did not know: brought back, or thawed. */
  rebuilt: number;
  cancelled: number;
  /** Machines drained for another shard. */
  drains: number;
  removals: number;
  /** Shards that an operator called gone because recovery waited for them. */
  givenUp: number;
  /** Zones that were given to a shard or taken from one. */
  zoneMoves: number;
}

export function emptyTally(): Tally {
  return {
    deaths: 0,
    elections: 0,
    restores: 0,
    restoredRemoved: 0,
    restoredUnknown: 0,
    lostMessages: 0,
    commits: 0,
    aborts: 0,
    quotaMoves: 0,
    rebuilt: 0,
    cancelled: 0,
    drains: 0,
    removals: 0,
    givenUp: 0,
    zoneMoves: 0,
  };
}

export function add(total: Tally, part: Tally): void {
  for (const key of Object.keys(total) as (keyof Tally)[]) total[key] += part[key];
}

export function countedRules(rules: SagaRules, tally: Tally): SagaRules {
  return {
    decide: (facts) => {
      const steps = rules.decide(facts);
      if (steps.some((step) => step.do === 'recommit')) tally.rebuilt += 1;
      return steps;
    },
    decideLost: (facts) => {
      const step = rules.decideLost(facts);
      if (step.do === 'rebuild') tally.rebuilt += 1;
      if (step.do === 'cancel') tally.cancelled += 1;
      return step;
    },
  };
}

export function observerOf(tally: Tally): CoordinatorObserver {
  const nothing = (): void => {};
  return {
    onReport: nothing,
    onPendingInstructions: nothing,
    onUnregisteredProvider: nothing,
    onShardRemoved: nothing,
    onOwnershipConflict: nothing,
    onClusterBindingConflict: nothing,
    onTermJumpRefused: nothing,
    onRebalancePass: nothing,
    onRebalanceMove: (tier, result) => {
      if (tier === '2' && result === 'committed') tally.quotaMoves += 1;
      if (tier === '3' && result === 'accepted') tally.drains += 1;
    },
  };
}

// Engine §5.10 and §15.2: what is said about a need after the phases have decided. Observation only:
// nothing here feeds back into a claim.

import { PINNED_BUCKET, type UnmetCode, type UnmetReasonName } from '@bigfleet/base';
import type { MatchingSupply, Verdict } from '../model/cycle.ts';
import { add, isZero, noResources } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { domainCoverages } from './domain.ts';
import { type Entry, isCovered, type Ledger } from './ledger.ts';
import { hosts, matches } from './rules.ts';

export function verdictOf(ledger: Ledger, entry: Entry): Verdict {
  const satisfied = isCovered(entry);
  const provisioned = entry.acquired.filter(({ state }) => state === State.Speculative);
  return {
    need: entry.need,
    satisfied,
    deficit: entry.remaining,
    claimedCount: entry.credited.length + entry.acquired.length,
    bootstrapCount: entry.acquired.length - provisioned.length,
    provisionCount: provisioned.length,
    sameDomain: entry.domain,
    sameSatisfiable: entry.satisfiable,
    parked: entry.parked,
    parkedAgeCycles: entry.parkedAgeCycles,
    matchingSupply: satisfied ? undefined : matchingSupply(ledger, entry),
    // Observation for needs that stay open.
    sameCandidates: satisfied ? [] : domainCoverages(entry.buckets, entry.need.aggregate),
    awaitingDrainCount: entry.awaited.length,
    victimCount: entry.victims.length,
    freed: entry.victims.map(({ allocatable }) => allocatable).reduce(add, noResources),
    unmetReason: unmetReasonOf(ledger, entry),
    reasonCode: reasonCodeOf(ledger, entry),
  };
}

/** By requirements alone, whoever holds the machine: claims, priority and withholding ignored. */
function matchingSupply(ledger: Ledger, entry: Entry): MatchingSupply {
  const countIn = (state: number): number =>
    ledger.input.machines.filter(
      (machine) => machine.state === state && matches(machine, entry.need),
    ).length;
  return {
    idle: countIn(State.Idle),
    speculative: countIn(State.Speculative),
    configured: countIn(State.Configured),
  };
}

/** The established enum, by its own derivation (engine §5.10). */
function unmetReasonOf(ledger: Ledger, entry: Entry): UnmetReasonName {
  if (isCovered(entry)) return 'UNSPECIFIED';
  if (isTopologyUnsatisfiable(entry) || entry.parked) return 'TOPOLOGY_UNSATISFIABLE';
  if (!ledger.input.machines.some((machine) => matches(machine, entry.need))) {
    return 'NO_MATCHING_SUPPLY';
  }
  return isPreemptionExhausted(entry) ? 'PREEMPTION_EXHAUSTED' : 'PRIORITY_STARVED';
}

/** The finer code: top to bottom through the table of engine §15.2, first match wins. */
function reasonCodeOf(ledger: Ledger, entry: Entry): UnmetCode {
  if (isCovered(entry)) return 'satisfied';
  // Covered by machines that drain already. Victims chosen in this very cycle do not drain yet.
  if (entry.victims.length === 0 && isZero(entry.unresolved)) return 'awaiting_drain';
  if (entry.parked) return 'acquisition_parked';
  if (isTopologyUnsatisfiable(entry)) return 'topology_unsatisfiable';
  const matching = ledger.input.machines.filter((machine) => matches(machine, entry.need));
  if (matching.length === 0) return 'no_matching_supply';
  const hosting = matching.filter((machine) => hosts(machine, entry.need));
  if (hosting.length === 0) return 'min_unit_too_large';
  if (
    entry.need.profile.interruptionBucket === PINNED_BUCKET &&
    hosting.every((machine) => machine.interruptionProbability > 0)
  ) {
    return 'no_stable_supply';
  }
  if (entry.isRefused) return 'bootstrap_refused';
  if (entry.blockedBy === 'brake') return 'configure_failing';
  if (entry.blockedBy === 'type') return 'type_failing';
  if (entry.blockedBy === 'quota') return 'quota_exhausted';
  if (entry.blockedBy === 'spread') return 'spread_unsatisfiable';
  return isPreemptionExhausted(entry) ? 'preemption_exhausted' : 'priority_starved';
}

function isTopologyUnsatisfiable(entry: Entry): boolean {
  return (
    entry.need.profile.same !== undefined && (!entry.satisfiable || entry.domain === undefined)
  );
}

function isPreemptionExhausted(entry: Entry): boolean {
  return entry.victims.length > 0 && !isZero(entry.unresolved);
}

// What is true of one machine and one need, restated for the invariant checks. Deliberately not
// shared with the oracle or the engine: a check that borrows the code it checks proves nothing.

import { bucketUpperBoundDollars } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { parseFingerprint, withoutSame } from '../model/profile.ts';
import { attributeOf, satisfiesAll } from '../model/requirement.ts';
import { covers } from '../model/resources.ts';
import { State } from '../model/state.ts';

export function fits(machine: Machine, need: Need): boolean {
  return (
    satisfiesAll(machine, need.profile.requirements) && covers(machine.allocatable, need.minUnit)
  );
}

export function risk(machine: Machine, need: Need): number {
  const dollars = bucketUpperBoundDollars(need.profile.interruptionBucket);
  return machine.interruptionProbability === 0 || dollars === 0
    ? 0
    : machine.interruptionProbability * dollars;
}

export function cost(machine: Machine, need: Need): number {
  return machine.pricePerHour + risk(machine, need);
}

export function isFinite(machine: Machine, need: Need): boolean {
  return cost(machine, need) !== Number.POSITIVE_INFINITY;
}

export function isBoundTo(machine: Machine, cluster: string): boolean {
  const { state } = machine;
  return (state === State.Configured || state === State.Configuring) && machine.cluster === cluster;
}

/** Bound to the need's cluster and stamped for its demand, folded or not. */
export function servesAlready(machine: Machine, need: Need): boolean {
  const stamped = parseFingerprint(machine.assigned.needFingerprint);
  return (
    isBoundTo(machine, need.cluster) &&
    stamped !== undefined &&
    withoutSame(stamped).fingerprint === withoutSame(need.profile).fingerprint
  );
}

export function isOwnCreating(machine: Machine, need: Need): boolean {
  const { needFingerprint, group } = machine.assigned;
  return (
    machine.state === State.Creating &&
    machine.intendedCluster === need.cluster &&
    needFingerprint === need.profile.fingerprint &&
    (need.profile.same === undefined || group === need.group)
  );
}

export function isPooled(machine: Machine): boolean {
  const { state, withheld } = machine;
  return (state === State.Idle || state === State.Speculative) && withheld === undefined;
}

export function sameValue(machine: Machine, need: Need): string | undefined {
  const key = need.profile.same?.key;
  return key === undefined ? undefined : attributeOf(machine, key);
}

export function spreadValue(machine: Machine, need: Need): string | undefined {
  const key = need.profile.hardSpread?.topologyKey;
  return key === undefined ? undefined : attributeOf(machine, key);
}

// The sentences of engine §1.6, §1.8 and §5.1 about one machine and one need, and the locked orders
// of machines. Everything here is a pure predicate; nothing remembers, nothing is cached.

import {
  bucketUpperBoundDollars,
  compareText,
  effectiveCost,
  interruptionTerm,
} from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { parseFingerprint, withoutSame } from '../model/profile.ts';
import { attributeOf, satisfiesAll } from '../model/requirement.ts';
import { covers } from '../model/resources.ts';
import { State, type StateCode } from '../model/state.ts';

export function matches(machine: Machine, need: Need): boolean {
  return satisfiesAll(machine, need.profile.requirements);
}

/** Matches and covers the atomic unit alone. */
export function hosts(machine: Machine, need: Need): boolean {
  return matches(machine, need) && covers(machine.allocatable, need.minUnit);
}

export function costFor(machine: Machine, need: Need): number {
  return effectiveCost(
    machine.pricePerHour,
    machine.interruptionProbability,
    penaltyDollarsOf(need),
  );
}

/** The interruption term of the effective cost: what makes idle spot lose against stable supply. */
export function riskFor(machine: Machine, need: Need): number {
  return interruptionTerm(machine.interruptionProbability, penaltyDollarsOf(need));
}

export function hasFiniteCost(machine: Machine, need: Need): boolean {
  return costFor(machine, need) < Number.POSITIVE_INFINITY;
}

/** Engine §0, sentence 4: bound to a cluster is Configured or Configuring; Draining is no supply. */
export function isSupplyOf(machine: Machine, cluster: string): boolean {
  return (
    (machine.state === State.Configured || machine.state === State.Configuring) &&
    machine.cluster === cluster
  );
}

/** Engine §5.1: finite cost, or already serving this demand, folded or not. */
export function mayServe(machine: Machine, need: Need): boolean {
  if (hasFiniteCost(machine, need)) return true;
  return (
    isSupplyOf(machine, need.cluster) &&
    withSameDisregarded(machine.assigned.needFingerprint) ===
      withSameDisregarded(need.profile.fingerprint)
  );
}

/** Another version's text stays as it is: it equals no fingerprint of ours (engine §1.5). */
function withSameDisregarded(fingerprint: string): string {
  const profile = parseFingerprint(fingerprint);
  return profile === undefined ? fingerprint : withoutSame(profile).fingerprint;
}

/** Engine §5.3: stamped for exactly this gang. */
export function isOwn(machine: Machine, need: Need): boolean {
  return (
    machine.assigned.needFingerprint === need.profile.fingerprint &&
    machine.assigned.group === need.group
  );
}

/**
 * Engine §5.2: Creating that this need caused. Without the stamp of the intended cluster (lost on
 * restart) it counts for nobody.
 */
export function isOwnCreating(machine: Machine, need: Need): boolean {
  if (machine.state !== State.Creating || machine.intendedCluster !== need.cluster) return false;
  if (need.profile.same !== undefined) return isOwn(machine, need);
  return machine.assigned.needFingerprint === need.profile.fingerprint;
}

/** In this state and ours to act on: withheld machines are in no pool and no phase (engine §5.7). */
export function isOursIn(machine: Machine, state: StateCode): boolean {
  return machine.state === state && machine.withheld === undefined;
}

export function isAcquirableState(machine: Machine): boolean {
  return isOursIn(machine, State.Idle) || isOursIn(machine, State.Speculative);
}

/** Value of the need's Same key; a machine that matches always has one. */
export function sameValueOf(machine: Machine, need: Need): string | undefined {
  const same = need.profile.same;
  return same === undefined ? undefined : attributeOf(machine, same.key);
}

/** Locked: price asc, reclamation penalty desc, id asc (engine §5.2). Buckets order as their dollars. */
export function compareKeep(a: Machine, b: Machine): number {
  return (
    a.pricePerHour - b.pricePerHour ||
    b.assigned.reclamationBucket - a.assigned.reclamationBucket ||
    compareText(a.id, b.id)
  );
}

/** Engine §7.1: the exact reverse of keep order. */
export function compareRelease(a: Machine, b: Machine): number {
  return compareKeep(b, a);
}

/** Engine §5.7: effective cost asc, reclamation penalty asc, id asc. */
export function compareIdle(a: Machine, b: Machine, need: Need): number {
  return (
    costFor(a, need) - costFor(b, need) ||
    a.assigned.reclamationBucket - b.assigned.reclamationBucket ||
    compareText(a.id, b.id)
  );
}

/** Engine §5.7: effective cost asc, id asc. */
export function compareSpeculative(a: Machine, b: Machine, need: Need): number {
  return costFor(a, need) - costFor(b, need) || compareText(a.id, b.id);
}

function penaltyDollarsOf(need: Need): number {
  return bucketUpperBoundDollars(need.profile.interruptionBucket);
}

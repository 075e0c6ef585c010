// Whether a machine could serve a need at all, over plain values: shape, unit and a finite cost.
// Only to choose what is worth a trial; the engine decides.

import { bucketUpperBoundDollars, effectiveCost } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { satisfiesAll } from '../model/requirement.ts';
import { covers } from '../model/resources.ts';

export function costFor(machine: Machine, { profile }: Need): number {
  const penalty = bucketUpperBoundDollars(profile.interruptionBucket);
  return effectiveCost(machine.pricePerHour, machine.interruptionProbability, penalty);
}

export function isUsableFor(machine: Machine, need: Need): boolean {
  return (
    machine.withheld === undefined &&
    satisfiesAll(machine, need.profile.requirements) &&
    covers(machine.allocatable, need.minUnit) &&
    costFor(machine, need) < Number.POSITIVE_INFINITY
  );
}

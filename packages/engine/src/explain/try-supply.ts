// Changes on the side of supply: wait for what is in flight, raise a quota slice.

import { bucketUpperBoundDollars, effectiveCost } from '@bigfleet/base';
import { ActionKind } from '../model/action.ts';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { satisfiesAll } from '../model/requirement.ts';
import { covers } from '../model/resources.ts';
import { State } from '../model/state.ts';
import type { Trials, Verified } from './trials.ts';

const MAX_PROVIDERS = 4;

/** Drains that run; else those that this very cycle decides. */
export function tryDrains(trials: Trials): Verified[] {
  const { input, need, before } = trials;
  const isDraining = input.machines.some(({ state }) => state === State.Draining);
  const isPreempting = before.verdictsOf(need).some(({ victimCount }) => victimCount > 0);
  const found =
    (isDraining ? trials.attempt({ code: 'wait_for_drain', isDecidedNow: false }) : undefined) ??
    (isPreempting ? trials.attempt({ code: 'wait_for_drain', isDecidedNow: true }) : undefined);
  return found === undefined ? [] : [found];
}

export function tryCreates(trials: Trials): Verified[] {
  if (!trials.input.machines.some(({ state }) => state === State.Creating)) return [];
  const found = trials.attempt({ code: 'wait_for_create' });
  return found === undefined ? [] : [found];
}

/** One provider at a time: first without a limit, then exactly as much as that took. */
export function tryQuotas(trials: Trials): Verified[] {
  const found: Verified[] = [];
  for (const provider of limitedProviders(trials).slice(0, MAX_PROVIDERS)) {
    const unlimited = trials.attempt({
      code: 'raise_quota',
      provider,
      remaining: Number.MAX_SAFE_INTEGER,
    });
    if (unlimited === undefined) continue;
    const remaining = createdUntilCovered(trials, unlimited, provider);
    const exact = trials.attempt({ code: 'raise_quota', provider, remaining });
    if (exact !== undefined) found.push(exact);
  }
  return found;
}

function limitedProviders({ input, need }: Trials): string[] {
  const providers = new Set<string>();
  for (const machine of input.machines) {
    if (machine.state !== State.Speculative || !input.quotaRemaining.has(machine.provider))
      continue;
    if (isUsableFor(machine, need)) providers.add(machine.provider);
  }
  return [...providers].sort();
}

/** Turns run in order of precedence: what comes after the need's last machine draws later. */
function createdUntilCovered({ input }: Trials, found: Verified, provider: string): number {
  const providers = new Map(input.machines.map((machine) => [machine.id, machine.provider]));
  const wanted = new Set(found.machineIds);
  let count = 0;
  let countAtLast = 0;
  for (const { kind, machineId } of found.first.actions) {
    if (kind === ActionKind.Provision && providers.get(machineId) === provider) count += 1;
    if (wanted.has(machineId)) countAtLast = count;
  }
  return Math.max(countAtLast, input.quotaRemaining.get(provider) ?? 0);
}

/**
 * Whether a machine could serve a need at all, over plain values: shape, unit and a finite cost. Only to
 * choose what is worth a trial; the engine decides.
 */
export function isUsableFor(machine: Machine, need: Need): boolean {
  return (
    machine.withheld === undefined &&
    satisfiesAll(machine, need.profile.requirements) &&
    covers(machine.allocatable, need.minUnit) &&
    costFor(machine, need) < Number.POSITIVE_INFINITY
  );
}

export function costFor(machine: Machine, { profile }: Need): number {
  const penalty = bucketUpperBoundDollars(profile.interruptionBucket);
  return effectiveCost(machine.pricePerHour, machine.interruptionProbability, penalty);
}

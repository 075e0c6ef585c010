// The single changes that a counterfactual may propose, and what each does to the input of a
// cycle. A change is a value: the same one can be tried by the engine and by the oracle.

import { assert } from '@bigfleet/base';
import { type CycleInput, heldOffKey } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { aggregateNeeds, type Need, needKey } from '../model/need.ts';
import { createProfile, type ProfileInit, type Spread } from '../model/profile.ts';
import type { Requirement } from '../model/requirement.ts';
import { State } from '../model/state.ts';
import { idled, withMachines } from './executed.ts';

export type Change =
  /** Drains have ended: those that run, or those that the cycle on this very input decides. */
  | { readonly code: 'wait_for_drain'; readonly isDecidedNow: boolean }
  /** Every creation that runs in the input has ended. */
  | { readonly code: 'wait_for_create' }
  | { readonly code: 'raise_quota'; readonly provider: string; readonly remaining: number }
  | { readonly code: 'relax_domain'; readonly profile: Relaxation }
  | { readonly code: 'relax_requirement'; readonly profile: Relaxation }
  | { readonly code: 'raise_priority'; readonly priority: number }
  | { readonly code: 'price_headroom'; readonly shape: PriceShape; readonly pricePerHour: number };

/** What the profile demands instead. */
export interface Relaxation {
  readonly requirements: readonly Requirement[];
  readonly spread: readonly Spread[];
  /** In words, for people: what is different. */
  readonly words: string;
}

/** Machines that are sold at one price. */
export type PriceShape = Pick<
  Machine,
  'provider' | 'instanceType' | 'zone' | 'capacityType' | 'pricePerHour'
>;

/** The input with the change made, and the need as it then reads. */
export interface Changed {
  readonly input: CycleInput;
  readonly need: Need;
}

export function applyChange(input: CycleInput, need: Need, change: Change): Changed {
  switch (change.code) {
    case 'wait_for_drain':
      return { input: change.isDecidedNow ? input : complete(input, State.Draining), need };
    case 'wait_for_create':
      return { input: complete(input, State.Creating), need };
    case 'raise_quota': {
      const quotaRemaining = new Map(input.quotaRemaining).set(change.provider, change.remaining);
      return { input: { ...input, quotaRemaining }, need };
    }
    case 'relax_domain':
    case 'relax_requirement': {
      const { requirements, spread } = change.profile;
      return reprofile(input, need, { ...need.profile, requirements, spread });
    }
    case 'raise_priority':
      return reprofile(input, need, { ...need.profile, priority: change.priority });
    case 'price_headroom': {
      const { shape, pricePerHour } = change;
      const machines = input.machines.map((machine) =>
        hasPriceShape(machine, shape) ? { ...machine, pricePerHour } : machine,
      );
      return { input: { ...input, machines }, need };
    }
  }
}

export function hasPriceShape(machine: Machine, shape: PriceShape): boolean {
  return (
    machine.provider === shape.provider &&
    machine.instanceType === shape.instanceType &&
    machine.zone === shape.zone &&
    machine.capacityType === shape.capacityType &&
    machine.pricePerHour === shape.pricePerHour
  );
}

function complete(
  input: CycleInput,
  state: typeof State.Draining | typeof State.Creating,
): CycleInput {
  return withMachines(
    input,
    input.machines.map((machine) => (machine.state === state ? idled(machine) : machine)),
  );
}

/**
 * The cluster reports the need with another profile from now on. A hold-off follows it: the
 * operator would refuse the same bootstrap again, whatever the profile is called.
 */
function reprofile(input: CycleInput, need: Need, init: ProfileInit): Changed {
  const key = needKey(need);
  const renamed: Need = { ...need, profile: createProfile(init) };
  const needs = aggregateNeeds(input.needs.map((row) => (needKey(row) === key ? renamed : row)));
  const changed = needs.find((row) => needKey(row) === needKey(renamed));
  assert(changed !== undefined, 'a renamed need must be among the needs', {
    cluster: need.cluster,
  });
  const { cluster, profile } = need;
  const from = heldOffKey(cluster, profile.fingerprint);
  const to = heldOffKey(cluster, renamed.profile.fingerprint);
  const heldOff = new Set(input.heldOff);
  if (heldOff.has(from)) heldOff.add(to);
  const braked = new Map(input.brakes.needs);
  const allowed = braked.get(from);
  if (allowed !== undefined) braked.set(to, allowed);
  const brakes = { ...input.brakes, needs: braked };
  return { input: { ...input, needs, heldOff, brakes }, need: changed };
}

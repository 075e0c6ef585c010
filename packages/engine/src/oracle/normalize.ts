// Engine §4: gangs that fit on one machine become plain demand, because one machine co-locates them
// anyway and keeping Same would round each gang up to a whole machine. An existence test over
// the shard, held back by the gang's own machines: a big machine appearing elsewhere must not
// make a healthy gang's smaller machines useless.

import { compareText } from '@bigfleet/base';
import type { CycleInput } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { compareDemand, earliest, type Need } from '../model/need.ts';
import { withoutSame } from '../model/profile.ts';
import { add, covers, resourcesKey } from '../model/resources.ts';
import { isAcquirableState, isOwn, isSupplyOf, matches, mayServe } from './rules.ts';

/** Pass-through rows in demand order, then folded rows by (cluster, fingerprint, aggregate). */
export function normalizeDemand(input: CycleInput): readonly Need[] {
  const demand = [...input.needs].sort(compareDemand);
  return foldGangs(input.machines, demand);
}

/** Returns the very list it was given when no row has Same. */
export function foldGangs(machines: readonly Machine[], demand: readonly Need[]): readonly Need[] {
  if (demand.every((need) => need.profile.same === undefined)) return demand;
  const passed: Need[] = [];
  const folded = new Map<string, Need>();
  for (const need of demand) {
    if (!isFoldable(machines, need)) {
      passed.push(need);
      continue;
    }
    const gang = foldOne(need);
    const key = foldKey(gang);
    const known = folded.get(key);
    folded.set(key, known === undefined ? gang : join(known, gang));
  }
  return [...passed, ...[...folded.values()].sort(compareFolded)];
}

function isFoldable(machines: readonly Machine[], need: Need): boolean {
  if (need.profile.same === undefined) return false;
  const fits = machines.some(
    (machine) =>
      // A withheld machine is in no pool, but what is bound to the cluster stays its supply.
      (isSupplyOf(machine, need.cluster) || isAcquirableState(machine)) &&
      matches(machine, need) &&
      mayServe(machine, need) &&
      covers(machine.allocatable, need.aggregate),
  );
  if (!fits) return false;
  // "Bound" is Configured or Configuring (engine §0, sentence 4), and own means of the need's own
  // cluster: another cluster's gang of the same name is another gang.
  const incumbents = machines.filter(
    (machine) => isSupplyOf(machine, need.cluster) && isOwn(machine, need),
  );
  return (
    incumbents.length === 0 ||
    incumbents.some((machine) => covers(machine.allocatable, need.aggregate))
  );
}

function foldOne(need: Need): Need {
  return {
    ...need,
    profile: withoutSame(need.profile),
    minUnit: need.aggregate,
    group: '',
  };
}

/** minUnit is one gang's aggregate, so it stays the key however many gangs were joined. */
function foldKey(gang: Need): string {
  return [gang.cluster, gang.profile.fingerprint, resourcesKey(gang.minUnit)].join('\u0000');
}

function join(a: Need, b: Need): Need {
  return {
    ...a,
    aggregate: add(a.aggregate, b.aggregate),
    arrivalUnixNanos: earliest(a.arrivalUnixNanos, b.arrivalUnixNanos),
  };
}

/** The aggregate key is one gang's: different sizes fold separately. */
function compareFolded(a: Need, b: Need): number {
  return (
    compareText(a.cluster, b.cluster) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(resourcesKey(a.minUnit), resourcesKey(b.minUnit))
  );
}

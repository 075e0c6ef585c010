// Engine §5.7, DoNotSchedule: machines are taken so that no topology value runs ahead of the least
// served one by more than maxSkew. Counts start from what is already credited and run on over
// both pools: starting again per pool keeps the skew per call and breaks it in total.

import { compareText } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { attributeOf } from '../model/requirement.ts';
import { State } from '../model/state.ts';
import {
  type Entry,
  isCovered,
  type Ledger,
  mayTake,
  mayTry,
  take,
  unbuyable,
  usablePool,
} from './ledger.ts';
import { costFor } from './rules.ts';
import { nextStep } from './step.ts';

interface Head {
  readonly value: string;
  readonly machine: Machine;
}

export function acquireSpread(ledger: Ledger, entry: Entry): void {
  const { need } = entry;
  const counts = startCounts(ledger, entry);
  while (!isCovered(entry)) {
    if (!mayTry(ledger, entry)) {
      entry.blockedBy = 'brake';
      return;
    }
    // A machine without the topology key is in no bucket: nobody could say what it skews.
    const usable = usablePool(ledger, entry).filter(
      (machine) => spreadValueOf(machine, need) !== undefined,
    );
    const candidates = usable.filter((machine) => mayTake(ledger, machine));
    const best = bestHead(candidates, counts, need);
    if (best === undefined) {
      entry.blockedBy = candidates.length > 0 ? 'spread' : unbuyable(ledger, usable);
      return;
    }
    take(ledger, entry, best.machine);
    counts.set(best.value, (counts.get(best.value) ?? 0) + 1);
  }
}

/**
 * Every value seen among credited and usable machines when the need's turn begins. A value
 * stays seen when its machines are used up: that is what makes 1/2/2 of 1+5+5 (engine §5.7).
 */
function startCounts(ledger: Ledger, entry: Entry): Map<string, number> {
  const counts = new Map<string, number>();
  for (const machine of usablePool(ledger, entry)) {
    const value = spreadValueOf(machine, entry.need);
    if (value !== undefined && mayTake(ledger, machine)) counts.set(value, 0);
  }
  for (const machine of entry.credited) {
    const value = spreadValueOf(machine, entry.need);
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/** Idle heads before Speculative ones, then effective cost, then value. */
function bestHead(
  candidates: readonly Machine[],
  counts: ReadonlyMap<string, number>,
  need: Need,
): Head | undefined {
  const skew = Math.max(1, need.profile.hardSpread?.maxSkew ?? 1);
  const least = Math.min(...counts.values());
  const heads: Head[] = [];
  for (const [value, count] of counts) {
    if (count > least + skew - 1) continue;
    const bucket = candidates.filter((machine) => spreadValueOf(machine, need) === value);
    const machine = nextStep(bucket, need);
    if (machine !== undefined) heads.push({ value, machine });
  }
  heads.sort(
    (a, b) =>
      Number(b.machine.state === State.Idle) - Number(a.machine.state === State.Idle) ||
      costFor(a.machine, need) - costFor(b.machine, need) ||
      compareText(a.value, b.value),
  );
  return heads[0];
}

function spreadValueOf(machine: Machine, need: Need): string | undefined {
  const spread = need.profile.hardSpread;
  return spread === undefined ? undefined : attributeOf(machine, spread.topologyKey);
}

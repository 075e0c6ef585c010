// Engine §5.7: needs with a residue take machines one step at a time, by full precedence. Processing
// in that order makes displacement impossible (engine §5.8): a later need never outranks an earlier one.

import { compareText } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import { compareAcquisition, type Need } from '../model/need.ts';
import { attributeOf } from '../model/requirement.ts';
import { add, covers, noResources } from '../model/resources.ts';
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
import { costFor, sameValueOf } from './rules.ts';
import { nextStep } from './step.ts';

export function acquireAll(ledger: Ledger): void {
  for (const entry of acquisitionOrder(ledger)) {
    if (isCovered(entry) || entry.parked || entry.isRefused) continue;
    const { same, hardSpread } = entry.need.profile;
    if (hardSpread !== undefined) acquireSpread(ledger, entry);
    else if (same === undefined) acquireSteps(ledger, entry, () => true);
    else acquireSame(ledger, entry);
  }
}

export function acquisitionOrder(ledger: Ledger): Entry[] {
  return [...ledger.entries].sort((a, b) => compareAcquisition(a.need, b.need));
}

/** The recorded domain confines acquisition even when it has nothing left (engine §5.3). */
function acquireSame(ledger: Ledger, entry: Entry): void {
  const domain = entry.domain ?? fallbackDomain(ledger, entry);
  if (domain === undefined) return;
  acquireSteps(ledger, entry, (machine) => sameValueOf(machine, entry.need) === domain);
}

function acquireSteps(ledger: Ledger, entry: Entry, isAllowed: (m: Machine) => boolean): void {
  takeWhileOpen(ledger, entry, isAllowed, (candidates) => nextStep(candidates, entry.need));
}

/** Takes what `next` names, until the need is covered, may try no more, or nothing is named. */
function takeWhileOpen(
  ledger: Ledger,
  entry: Entry,
  isAllowed: (machine: Machine) => boolean,
  next: (candidates: readonly Machine[]) => Machine | undefined,
): void {
  while (!isCovered(entry)) {
    if (!mayTry(ledger, entry)) {
      entry.blockedBy = 'brake';
      return;
    }
    const usable = usablePool(ledger, entry).filter(isAllowed);
    const candidates = usable.filter((machine) => mayTake(ledger, machine));
    const taken = next(candidates);
    if (taken === undefined) {
      // Without candidates, nothing but Speculative machines of spent slices and braked types is
      // left (engine §15.2); with some, only a spread can refuse them.
      entry.blockedBy = candidates.length > 0 ? 'spread' : unbuyable(ledger, usable);
      return;
    }
    take(ledger, entry, taken);
  }
}

interface Offer {
  readonly value: string;
  readonly count: number;
  readonly isCovering: boolean;
  /** Effective cost of what the step rule takes first. */
  readonly headCost: number;
}

/**
 * Engine §5.7, only for a Same need without any bucket. One choice over Idle and Speculative together
 * ("one attempt"): a choice per state could give one gang two domains. It is not recorded as
 * the need's domain: only the credit pass records one (engine §5.3).
 */
function fallbackDomain(ledger: Ledger, entry: Entry): string | undefined {
  const byValue = new Map<string, Machine[]>();
  for (const machine of usablePool(ledger, entry)) {
    const value = sameValueOf(machine, entry.need);
    if (value === undefined || !mayTake(ledger, machine)) continue;
    byValue.set(value, [...(byValue.get(value) ?? []), machine]);
  }
  const offers = [...byValue].map(([value, machines]) => offerOf(entry, value, machines));
  return offers.sort(compareOffers)[0]?.value;
}

function offerOf(entry: Entry, value: string, machines: readonly Machine[]): Offer {
  const total = machines.map(({ allocatable }) => allocatable).reduce(add, noResources);
  const head = nextStep(machines, entry.need);
  return {
    value,
    count: machines.length,
    isCovering: covers(total, entry.remaining),
    headCost: head === undefined ? Number.POSITIVE_INFINITY : costFor(head, entry.need),
  };
}

function compareOffers(a: Offer, b: Offer): number {
  if (a.isCovering !== b.isCovering) return a.isCovering ? -1 : 1;
  const byCount = a.isCovering ? 0 : b.count - a.count;
  return byCount || a.headCost - b.headCost || compareText(a.value, b.value);
}

interface Head {
  readonly value: string;
  readonly machine: Machine;
}

/**
 * Engine §5.7, DoNotSchedule: machines are taken so that no topology value runs ahead of the least
 * served one by more than maxSkew. Counts start from what is already credited and run on over both
 * pools: starting again per pool keeps the skew per call and breaks it in total.
 */
function acquireSpread(ledger: Ledger, entry: Entry): void {
  const { need } = entry;
  const counts = startCounts(ledger, entry);
  // A machine without the topology key is in no bucket: nobody could say what it skews.
  const hasValue = (machine: Machine): boolean => spreadValueOf(machine, need) !== undefined;
  takeWhileOpen(ledger, entry, hasValue, (candidates) => {
    const best = bestHead(candidates, counts, need);
    if (best !== undefined) counts.set(best.value, (counts.get(best.value) ?? 0) + 1);
    return best?.machine;
  });
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

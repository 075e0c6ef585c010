// Engine §5.7: needs with a residue take machines one step at a time, by full precedence. Processing
// in that order makes displacement impossible (engine §5.8): whoever comes later never outranks.

import { compareText } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import { compareAcquisition } from '../model/need.ts';
import { add, covers, noResources } from '../model/resources.ts';
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
import { acquireSpread } from './spread.ts';
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
  while (!isCovered(entry)) {
    if (!mayTry(ledger, entry)) {
      entry.blockedBy = 'brake';
      return;
    }
    const usable = usablePool(ledger, entry).filter(isAllowed);
    const candidates = usable.filter((machine) => mayTake(ledger, machine));
    const taken = nextStep(candidates, entry.need);
    if (taken === undefined) {
      // Nothing but Speculative machines of spent slices and braked types is left (engine §15.2).
      entry.blockedBy = unbuyable(ledger, usable);
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

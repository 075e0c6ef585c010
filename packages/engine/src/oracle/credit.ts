// Engine §5.2, §5.3, §5.6: existing supply is credited to needs by priority, without any action. A
// Same need chooses its one domain here, once per cycle, credits only inside it, and marks what
// it will probably acquire there, so that later gangs rank against what is really left.

import type { Machine } from '../model/machine.ts';
import { contributes, covers, type Resources, subtract, isZero } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { bucketize, type Bucket, rankBuckets } from './domain.ts';
import { byPriority, claim, type Entry, isCovered, isUsable, type Ledger } from './ledger.ts';
import {
  compareKeep,
  hasFiniteCost,
  hosts,
  isAcquirableState,
  isOwn,
  isOwnCreating,
  sameValueOf,
} from './rules.ts';
import { nextStep } from './step.ts';

export function creditAll(ledger: Ledger): void {
  for (const entry of byPriority(ledger.entries)) {
    if (entry.need.profile.same === undefined) creditList(ledger, entry, supplyOf(ledger, entry));
    else creditSame(ledger, entry);
  }
}

/** Configured, Configuring, own Creating; keep order inside each (engine §5.2, §5.3 step 1). */
function supplyOf(ledger: Ledger, entry: Entry): Machine[] {
  const { machines } = ledger.input;
  const { need } = entry;
  const boundIn = (state: number): Machine[] =>
    machines.filter((machine) => machine.state === state && machine.cluster === need.cluster);
  return [
    ...boundIn(State.Configured).sort(compareKeep),
    ...boundIn(State.Configuring).sort(compareKeep),
    ...machines.filter((machine) => isOwnCreating(machine, need)).sort(compareKeep),
  ];
}

/** Stop when covered. */
function creditList(ledger: Ledger, entry: Entry, supply: readonly Machine[]): void {
  for (const machine of supply) {
    if (isCovered(entry)) return;
    if (!isUsable(ledger, entry, machine)) continue;
    claim(ledger, entry, machine);
    entry.credited.push(machine);
  }
}

function creditSame(ledger: Ledger, entry: Entry): void {
  const { need } = entry;
  const creditable = supplyOf(ledger, entry).filter((machine) => isUsable(ledger, entry, machine));
  const acquirable = entry.parked ? [] : acquirableFor(ledger, entry);
  entry.buckets = rankBuckets(bucketize(need, creditable, acquirable), need.aggregate);
  const chosen = entry.buckets[0];
  if (chosen === undefined) return;
  entry.domain = chosen.value;
  entry.satisfiable = covers(chosen.total, need.aggregate);
  creditList(ledger, entry, incumbentsFirst(entry, chosen));
  if (!isCovered(entry) && !entry.parked && !entry.heldOff) {
    consumeVirtually(ledger, entry, acquirable);
  }
}

/** Engine §5.6, a stable partition: a newly configured stranger never bumps a serving incumbent. */
function incumbentsFirst(entry: Entry, bucket: Bucket): Machine[] {
  return [
    ...bucket.creditable.filter((machine) => isOwn(machine, entry.need)),
    ...bucket.creditable.filter((machine) => !isOwn(machine, entry.need)),
  ];
}

/**
 * Engine §5.3 step 2, by its own list of conditions: contribution is not among them, and quota is not,
 * because a slice never touches credit (engine §5.7).
 */
function acquirableFor(ledger: Ledger, entry: Entry): Machine[] {
  return ledger.input.machines.filter(
    (machine) =>
      isAcquirableState(machine) &&
      hosts(machine, entry.need) &&
      hasFiniteCost(machine, entry.need) &&
      !ledger.claims.has(machine.id) &&
      !ledger.consumed.has(machine.id),
  );
}

/** Engine §5.5: members of the chosen domain in step order, until the residue is covered. */
function consumeVirtually(ledger: Ledger, entry: Entry, acquirable: readonly Machine[]): void {
  const members = acquirable.filter((machine) => sameValueOf(machine, entry.need) === entry.domain);
  let residue: Resources = entry.remaining;
  while (!isZero(residue)) {
    const open = members.filter(
      (machine) => !ledger.consumed.has(machine.id) && contributes(machine.allocatable, residue),
    );
    const taken = nextStep(open, entry.need);
    if (taken === undefined) return;
    ledger.consumed.add(taken.id);
    residue = subtract(residue, taken.allocatable);
  }
}

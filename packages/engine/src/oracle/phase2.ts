// Engine §6: what Phase 1 left unsatisfied may drain machines of strictly lower effective priority.
// Nothing is moved: a freed machine is acquired by a later cycle. Machines that are already
// draining are counted first, or every cycle of a ten-minute drain would take fresh victims.

import { bucketUpperBoundDollars, compareText } from '@bigfleet/base';
import { type Action, ActionKind, drainGraceSeconds } from '../model/action.ts';
import type { Machine } from '../model/machine.ts';
import { attributeOf } from '../model/requirement.ts';
import { contributes, isZero, subtract } from '../model/resources.ts';
import { State } from '../model/state.ts';
import { victimScore } from '../model/victim-score.ts';
import { byPriority, countTry, type Entry, isCovered, type Ledger, mayTry } from './ledger.ts';
import { hasFiniteCost, hosts, isOursIn, sameValueOf } from './rules.ts';

export function preemptAll(ledger: Ledger): Action[] {
  const unsatisfied = byPriority(ledger.entries.filter((entry) => !isCovered(entry)));
  for (const entry of unsatisfied) entry.unresolved = entry.remaining;
  const preemptors = unsatisfied.filter((entry) => mayPreempt(ledger, entry));
  // The whole walk comes before the first victim is selected (engine §6).
  creditDraining(ledger, preemptors);
  const picked = new Set<string>();
  return preemptors.flatMap((entry) => pickVictims(ledger, entry, picked));
}

function mayPreempt(ledger: Ledger, entry: Entry): boolean {
  if (entry.parked || entry.isRefused || !mayTry(ledger, entry)) return false;
  return entry.need.profile.same === undefined || entry.domain !== undefined;
}

/** Ids ascending, until covered, only what reduces an open dimension; each used once. */
function creditDraining(ledger: Ledger, preemptors: readonly Entry[]): void {
  const draining = ledger.input.machines
    .filter((machine) => isOursIn(machine, State.Draining))
    .sort((a, b) => compareText(a.id, b.id));
  const used = new Set<string>();
  for (const entry of preemptors) {
    for (const machine of draining) {
      if (isZero(entry.unresolved)) break;
      if (used.has(machine.id) || !isOfUseTo(entry, machine)) continue;
      if (!spreadAllows(entry, machine)) continue;
      used.add(machine.id);
      entry.awaited.push(machine);
      entry.unresolved = subtract(entry.unresolved, machine.allocatable);
    }
  }
}

/**
 * Rules 3 and 4, and engine §5.1's contribution: a machine that reduces nothing of the deficit would
 * be drained in vain, and in every cycle again.
 */
function isOfUseTo(entry: Entry, machine: Machine): boolean {
  const { need } = entry;
  return (
    hosts(machine, need) &&
    hasFiniteCost(machine, need) &&
    (need.profile.same === undefined || sameValueOf(machine, need) === entry.domain) &&
    contributes(machine.allocatable, entry.unresolved)
  );
}

/**
 * Ours, in the spirit of rule 3: a machine that DoNotSchedule would forbid once it is free must
 * not be drained for this need, or the preemption repeats for ever. Counted as acquisition will
 * count it: what the need has, what drains for it, what was picked for it.
 */
function spreadAllows(entry: Entry, machine: Machine): boolean {
  const spread = entry.need.profile.hardSpread;
  if (spread === undefined) return true;
  const value = attributeOf(machine, spread.topologyKey);
  if (value === undefined) return false;
  const counts = new Map<string, number>([[value, 0]]);
  for (const held of [...entry.credited, ...entry.acquired, ...entry.awaited, ...entry.victims]) {
    const at = attributeOf(held, spread.topologyKey);
    if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  const least = Math.min(...counts.values());
  return (counts.get(value) ?? 0) <= least + Math.max(1, spread.maxSkew) - 1;
}

function pickVictims(ledger: Ledger, entry: Entry, picked: Set<string>): Action[] {
  const actions: Action[] = [];
  const { priority } = entry.need.profile;
  const pool = ledger.input.machines
    .filter((machine) => !picked.has(machine.id) && isEligible(ledger, entry, machine))
    .sort(
      (a, b) => scoreOf(ledger, entry, b) - scoreOf(ledger, entry, a) || compareText(a.id, b.id),
    );
  for (const machine of pool) {
    if (isZero(entry.unresolved) || !mayTry(ledger, entry)) break;
    if (!contributes(machine.allocatable, entry.unresolved)) continue;
    if (!spreadAllows(entry, machine)) continue;
    picked.add(machine.id);
    entry.victims.push(machine);
    countTry(ledger, entry);
    entry.unresolved = subtract(entry.unresolved, machine.allocatable);
    actions.push({
      kind: ActionKind.Preempt,
      machineId: machine.id,
      cluster: machine.cluster,
      fingerprint: '',
      group: '',
      graceSeconds: drainGraceSeconds(priority - effectivePriority(ledger, machine)),
      preemptorPriority: priority,
      reason: 'phase2.inversion',
    });
  }
  return actions;
}

/** Rules 1 to 6; rule 5 is the caller's. Rule 6 implies rule 2. */
function isEligible(ledger: Ledger, entry: Entry, machine: Machine): boolean {
  if (!isOursIn(machine, State.Configured)) return false;
  if (effectivePriority(ledger, machine) >= entry.need.profile.priority) return false;
  return (
    claimantOf(ledger, machine)?.need.cluster !== entry.need.cluster && isOfUseTo(entry, machine)
  );
}

/** Stamps go stale when a machine starts to serve a higher need of its cluster. */
function effectivePriority(ledger: Ledger, machine: Machine): number {
  const claimant = claimantOf(ledger, machine);
  const assigned = machine.assigned.priority;
  return claimant === undefined ? assigned : Math.max(assigned, claimant.need.profile.priority);
}

function claimantOf(ledger: Ledger, machine: Machine): Entry | undefined {
  const index = ledger.claims.get(machine.id);
  return index === undefined ? undefined : ledger.entries[index];
}

function scoreOf(ledger: Ledger, entry: Entry, machine: Machine): number {
  return victimScore(entry.need.profile.priority, {
    priority: effectivePriority(ledger, machine),
    interruptionPenaltyDollars: bucketUpperBoundDollars(machine.assigned.interruptionBucket),
    reclamationPenaltyDollars: bucketUpperBoundDollars(machine.assigned.reclamationBucket),
  });
}

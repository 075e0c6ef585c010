// The working state of one cycle: who claimed what, what each need still lacks, what is left of
// the quota slices. It lives for one call of the oracle. `claim` is the only way to claim, so a
// machine can never be claimed twice.

import { assert } from '@bigfleet/base';
import { machineTypeKey } from '../model/brakes.ts';
import { type CycleInput, heldOffKey } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { contributes, isZero, noResources, type Resources, subtract } from '../model/resources.ts';
import { State } from '../model/state.ts';
import type { Bucket } from './domain.ts';
import { isParked, parkingAgeOf } from './parking.ts';
import { hosts, isAcquirableState, mayServe } from './rules.ts';

/** What the cycle knows about one normalised need. */
export interface Entry {
  readonly index: number;
  readonly need: Need;
  readonly parkedAgeCycles: number;
  readonly parked: boolean;
  /** Refused by its operator, or braked without a single try. */
  readonly heldOff: boolean;
  readonly isRefused: boolean;
  /** Looked up in the ledger's brakes. */
  readonly brakeKey: string;
  /** What no claim covers yet. */
  remaining: Resources;
  readonly credited: Machine[];
  readonly acquired: Machine[];
  domain: string | undefined;
  satisfiable: boolean;
  /** What the chooser saw, best first; empty for plain needs. */
  buckets: readonly Bucket[];
  /** Why acquisition stopped short, recorded when it did. */
  blockedBy: 'quota' | 'type' | 'spread' | 'brake' | undefined;
  readonly awaited: Machine[];
  readonly victims: Machine[];
  /** What neither claims nor drains cover: Phase 2's residue. */
  unresolved: Resources;
}

export interface Ledger {
  readonly input: CycleInput;
  readonly entries: readonly Entry[];
  /** Machine id to index of the need. */
  readonly claims: Map<string, number>;
  /** Acquirable machines that an earlier Same need is expected to take (engine §5.5). */
  readonly consumed: Set<string>;
  readonly quota: Map<string, number>;
  /** What braked needs may still try, and what may still be bought of braked types. */
  readonly brakes: { readonly needs: Map<string, number>; readonly types: Map<string, number> };
}

export function openLedger(input: CycleInput, needs: readonly Need[]): Ledger {
  return {
    input,
    entries: needs.map((need, index) => openEntry(input, need, index)),
    claims: new Map(),
    consumed: new Set(),
    quota: new Map(input.quotaRemaining),
    brakes: { needs: new Map(input.brakes.needs), types: new Map(input.brakes.types) },
  };
}

function openEntry(input: CycleInput, need: Need, index: number): Entry {
  const parkedAgeCycles = parkingAgeOf(input.memory, need);
  const key = heldOffKey(need.cluster, need.profile.fingerprint);
  return {
    index,
    need,
    parkedAgeCycles,
    parked: isParked(parkedAgeCycles),
    // Machines of a folded gang are stamped with the stripped fingerprint, so that is the one
    // that the operator refused: only the normalised fingerprint is looked up.
    heldOff: input.heldOff.has(key) || input.brakes.needs.get(key) === 0,
    isRefused: input.heldOff.has(key),
    brakeKey: key,
    remaining: need.aggregate,
    credited: [],
    acquired: [],
    domain: undefined,
    satisfiable: false,
    buckets: [],
    blockedBy: undefined,
    awaited: [],
    victims: [],
    unresolved: noResources,
  };
}

/** Engine §5.1: matches, covers minUnit, may serve, is unclaimed, and reduces an open dimension. */
export function isUsable(ledger: Ledger, entry: Entry, machine: Machine): boolean {
  return (
    !ledger.claims.has(machine.id) &&
    hosts(machine, entry.need) &&
    mayServe(machine, entry.need) &&
    contributes(machine.allocatable, entry.remaining)
  );
}

export function claim(ledger: Ledger, entry: Entry, machine: Machine): void {
  assert(!ledger.claims.has(machine.id), 'a machine is claimed once', { id: machine.id });
  ledger.claims.set(machine.id, entry.index);
  entry.remaining = subtract(entry.remaining, machine.allocatable);
}

export function isCovered(entry: Entry): boolean {
  return isZero(entry.remaining);
}

function hasQuota(ledger: Ledger, machine: Machine): boolean {
  return (
    machine.state !== State.Speculative ||
    (ledger.quota.get(machine.provider) ?? Number.POSITIVE_INFINITY) > 0
  );
}

/** The slice of its provider has something left, and its type is not braked. */
export function mayTake(ledger: Ledger, machine: Machine): boolean {
  const type = ledger.brakes.types.get(machineTypeKey(machine.provider, machine.instanceType));
  return hasQuota(ledger, machine) && (machine.state !== State.Speculative || type !== 0);
}

/** What keeps these machines, none of which may be taken, from being bought (engine §15.2). */
export function unbuyable(ledger: Ledger, machines: readonly Machine[]): Entry['blockedBy'] {
  if (machines.length === 0) return undefined;
  return machines.some((machine) => hasQuota(ledger, machine)) ? 'type' : 'quota';
}

/** Whether the brake on failing Configures leaves the need another try; each is counted. */
export function mayTry(ledger: Ledger, entry: Entry): boolean {
  return ledger.brakes.needs.get(entry.brakeKey) !== 0;
}

export function countTry(ledger: Ledger, entry: Entry): void {
  const left = ledger.brakes.needs.get(entry.brakeKey);
  if (left !== undefined) ledger.brakes.needs.set(entry.brakeKey, left - 1);
}

/** Idle and Speculative machines that the need could use now, quota or not. */
export function usablePool(ledger: Ledger, entry: Entry): Machine[] {
  return ledger.input.machines.filter(
    (machine) => isAcquirableState(machine) && isUsable(ledger, entry, machine),
  );
}

/** Acquires. Each Speculative claim takes one of its provider's slice (engine §5.7) and of its type. */
export function take(ledger: Ledger, entry: Entry, machine: Machine): void {
  claim(ledger, entry, machine);
  entry.acquired.push(machine);
  countTry(ledger, entry);
  if (machine.state !== State.Speculative) return;
  const left = ledger.quota.get(machine.provider);
  if (left !== undefined) ledger.quota.set(machine.provider, left - 1);
  const type = machineTypeKey(machine.provider, machine.instanceType);
  const ofType = ledger.brakes.types.get(type);
  if (ofType !== undefined) ledger.brakes.types.set(type, ofType - 1);
}

/** Stable over the normalised order, as crediting and Phase 2 process needs. */
export function byPriority(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => b.need.profile.priority - a.need.profile.priority);
}

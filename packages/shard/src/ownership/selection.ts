// Which machines a transfer or a cross-shard drain may take (coordinator §9.4), as pure choices over
// machines that the caller already found free to give. The coordinator never names ids: it says what
// is missing, and the owner decides what to part with, cheapest first.

import {
  bucketUpperBoundDollars,
  compareText,
  PINNED_BUCKET,
  type PenaltyBucket,
} from '@bigfleet/base';
import {
  add,
  contributes,
  covers,
  isZero,
  type Machine,
  noResources,
  type Requirement,
  type Resources,
  satisfiesAll,
  subtract,
  victimScore,
  type StateCode,
} from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { ControlParts } from './open-ownership.ts';

/** More than this moves in no single step, whatever was asked for. */
export const MAX_MACHINES_PER_STEP = 50;

export interface MachineSelector {
  /** Empty is any. */
  readonly instanceType: string;
  readonly zone: string;
  readonly count: number;
  readonly requirements: readonly Requirement[];
  readonly deficit: Resources;
  readonly minUnit: Resources;
  readonly providerAddress: string;
  /** Of the demand; undefined does not filter. */
  readonly interruptionBucket: PenaltyBucket | undefined;
}

export interface Resolution {
  readonly machineIds: readonly string[];
  readonly covered: Resources;
}

/** Whether the machine would serve the demand, wherever it stands now. */
function isSelected(machine: Machine, selector: MachineSelector): boolean {
  const { instanceType, zone, requirements, minUnit, interruptionBucket } = selector;
  if (instanceType !== '' && machine.instanceType !== instanceType) return false;
  if (zone !== '' && machine.zone !== zone) return false;
  if (interruptionBucket === PINNED_BUCKET && machine.interruptionProbability > 0) return false;
  return covers(machine.allocatable, minUnit) && satisfiesAll(machine, requirements);
}

/** PREPARE: idle machines, reserved for this recipient first, then those that matter least here. */
export function resolveTransfer(
  idle: readonly Machine[],
  selector: MachineSelector,
  isReserved: (machineId: string) => boolean,
): Resolution {
  const penalty = ({ assigned }: Machine): number =>
    bucketUpperBoundDollars(assigned.reclamationBucket);
  const candidates = idle
    .filter((machine) => isSelected(machine, selector))
    .sort(
      (a, b) =>
        Number(isReserved(b.id)) - Number(isReserved(a.id)) ||
        order(penalty(a), penalty(b)) ||
        compareText(a.id, b.id),
    );
  return takeUntilCovered(candidates, selector);
}

export interface Preemptor {
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
}

/**
 * Tier 3: bound machines whose work has strictly lower priority and a strictly lower interruption
 * penalty than the demand elsewhere, best victims first. Never expensive work for cheap demand.
 */
export function resolveVictims(
  bound: readonly Machine[],
  selector: MachineSelector,
  preemptor: Preemptor,
  priorityOf: (machine: Machine) => number,
): Resolution {
  const score = (machine: Machine): number =>
    victimScore(preemptor.priority, {
      priority: priorityOf(machine),
      interruptionPenaltyDollars: bucketUpperBoundDollars(machine.assigned.interruptionBucket),
      reclamationPenaltyDollars: bucketUpperBoundDollars(machine.assigned.reclamationBucket),
    });
  const victims = bound
    .filter(
      (machine) =>
        priorityOf(machine) < preemptor.priority &&
        machine.assigned.interruptionBucket < preemptor.interruptionBucket &&
        isSelected(machine, selector),
    )
    .sort((a, b) => order(score(b), score(a)) || compareText(a.id, b.id));
  return takeUntilCovered(victims, selector);
}

/** Machines that add nothing to what is still missing are left where they are. */
function takeUntilCovered(
  candidates: readonly Machine[],
  { deficit, count }: MachineSelector,
): Resolution {
  const limit = Math.min(count, MAX_MACHINES_PER_STEP);
  const machineIds: string[] = [];
  let covered = noResources;
  let missing = deficit;
  for (const { id, allocatable } of candidates) {
    if (machineIds.length >= limit || isZero(missing)) break;
    if (!contributes(allocatable, missing)) continue;
    machineIds.push(id);
    covered = add(covered, allocatable);
    missing = subtract(missing, allocatable);
  }
  return { machineIds, covered };
}

/** Penalties may be infinite, and infinities have no difference. */
function order(a: number, b: number): number {
  return a < b ? -1 : Number(a > b);
}

/** Candidates beyond these are not looked at: one step moves MAX_MACHINES_PER_STEP of them at most. */
const MAX_CANDIDATES = 20_000;

export interface CandidateQuery {
  readonly state: StateCode;
  readonly selector: MachineSelector;
  /** A machine reserved for another shard than this one is no candidate. */
  readonly toShardId: string;
}

/**
 * Machines of one shared provider that this shard may give: in the wanted state, not promised to
 * another shard, with nothing under way. Walks the columns and makes objects only of machines that
 * match, a bounded number of them. Undefined when this shard does not share the provider.
 */
export function giveCandidates(
  { core, store, directory, reservations }: ControlParts,
  { state, selector, toShardId }: CandidateQuery,
): readonly Machine[] | undefined {
  const provider = directory.nameAt(selector.providerAddress);
  if (provider === undefined || directory.get(provider)?.isShared !== true) return undefined;
  const { fleet } = core;
  const found: Machine[] = [];
  for (const slot of slotsOf(fleet, provider, state)) {
    const machine = fleet.read(slot);
    const reservedFor = reservations.recipientOf(machine.id);
    if (reservedFor !== undefined && reservedFor !== toShardId) continue;
    if (store.rules.of(machine) !== 'mine' || !isSelected(machine, selector)) continue;
    found.push(machine);
    if (found.length >= MAX_CANDIDATES) break;
  }
  return found;
}

function* slotsOf(fleet: Fleet, provider: string, state: StateCode): IterableIterator<number> {
  const { ids, columns, classes, slotCount } = fleet.inventory;
  const isOfProvider = new Map<number, boolean>();
  for (let slot = 0; slot < slotCount; slot++) {
    if (columns.state[slot] !== state || ids[slot] === '') continue;
    const klass = columns.klass[slot] as number;
    let isOf = isOfProvider.get(klass);
    if (isOf === undefined) {
      isOf = classes.shape(klass)?.provider === provider;
      isOfProvider.set(klass, isOf);
    }
    if (isOf && fleet.pendingOf(slot) === 'none') yield slot;
  }
}

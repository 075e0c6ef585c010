// Machines of one provider that are ours to give: in the wanted state, not promised to anybody else,
// nothing under way. Walks the columns and makes objects only of machines that match, a bounded
// number of them.

import type { Machine, StateCode } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { ControlParts } from './control-parts.ts';
import { isSelected, type MachineSelector } from './selection.ts';

/** A choice among this many is as good as any: one step moves at most fifty. */
const MAX_CANDIDATES = 20_000;

export interface CandidateQuery {
  readonly state: StateCode;
  readonly selector: MachineSelector;
  /** Reserved for somebody else: not ours to give. */
  readonly toShardId: string;
}

/** Undefined when the provider is none that we share. */
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
    const klass = columns.klass[slot]!;
    let isOf = isOfProvider.get(klass);
    if (isOf === undefined) {
      isOf = classes.shape(klass)?.provider === provider;
      isOfProvider.set(klass, isOf);
    }
    if (isOf && fleet.pendingOf(slot) === 'none') yield slot;
  }
}

// What the fleet amounts to, for a report: totals, and one line per provider. From the counts by
// class, never by a walk over machines; only machines with an action under way, or a freeze, are
// looked at one by one.

import { State, STATE_COUNT } from '@bigfleet/engine';
import { type encodeInit, fromMap, type ShardSummarySchema } from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import { machinesOfClass } from '../provider/reconcile/known-machines.ts';
import type { ProviderDirectory } from './provider-directory.ts';

/** `idle` is what may be given: unbound, not frozen, nothing under way. `free` counts quota slots too. */
export type FleetSummary = Exclude<
  Parameters<typeof encodeInit<typeof ShardSummarySchema>>[1],
  { readonly $typeName: string }
>;

export interface ListFacts {
  readonly isHealthy: boolean;
  /** 0 before the first. */
  readonly unixNanos: bigint;
}

export interface FleetSummaryOptions {
  readonly fleet: Fleet;
  readonly directory: ProviderDirectory;
  readonly frozen: ReadonlySet<string>;
  readonly listFacts: (provider: string) => ListFacts;
}

export function summariseFleet(options: FleetSummaryOptions): FleetSummary {
  const { fleet, directory, listFacts } = options;
  const taken = takenIdle(options);
  const counts = countByProvider(fleet);
  const providers = [...directory.entries()].map(([name, { address, source, isShared }]) => {
    const count = counts.get(name) ?? NO_MACHINES;
    const { isHealthy, unixNanos } = listFacts(name);
    return {
      name,
      address,
      source,
      shared: isShared,
      totalMachines: count.totalMachines,
      idleMachines: count.idleMachines - (taken.get(name) ?? 0),
      freeMachines: count.idleMachines + count.speculativeMachines,
      speculativeMachines: count.speculativeMachines,
      lastListUnixNanos: unixNanos,
      healthy: isHealthy,
    };
  });
  const { stateCounts, size } = fleet.inventory;
  const idle = stateCounts[State.Idle] ?? 0;
  return {
    totalMachines: size,
    freeMachines: idle + (stateCounts[State.Speculative] ?? 0),
    idleMachines: idle - [...taken.values()].reduce((sum, count) => sum + count, 0),
    ...countByShape(fleet),
    providerAddress: (providers.length === 1 ? providers[0]?.address : undefined) ?? '',
    providers,
  };
}

interface ProviderCounts {
  readonly totalMachines: number;
  readonly idleMachines: number;
  readonly speculativeMachines: number;
}

const NO_MACHINES: ProviderCounts = { totalMachines: 0, idleMachines: 0, speculativeMachines: 0 };

/** By provider. Cost: one step per class and state. */
export function countByProvider({ inventory }: Fleet): ReadonlyMap<string, ProviderCounts> {
  const { classes } = inventory;
  const counts = new Map<string, ProviderCounts>();
  for (let klass = 0; klass < classes.length; klass++) {
    const provider = classes.shape(klass)?.provider;
    if (provider === undefined) continue;
    const before = counts.get(provider) ?? NO_MACHINES;
    const inState = (state: number): number => classes.counts[klass * STATE_COUNT + state]!;
    counts.set(provider, {
      totalMachines: before.totalMachines + machinesOfClass(classes, klass),
      idleMachines: before.idleMachines + inState(State.Idle),
      speculativeMachines: before.speculativeMachines + inState(State.Speculative),
    });
  }
  return counts;
}

function countByShape({
  inventory: { classes },
}: Fleet): Pick<FleetSummary, 'perInstanceTypeCounts' | 'perZoneCounts'> {
  const byInstanceType = new Map<string, number>();
  const byZone = new Map<string, number>();
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    const count = machinesOfClass(classes, klass);
    if (shape === undefined || count === 0) continue;
    addTo(byInstanceType, shape.instanceType, count);
    addTo(byZone, shape.zone, count);
  }
  return { perInstanceTypeCounts: fromMap(byInstanceType), perZoneCounts: fromMap(byZone) };
}

/** Idle machines that are promised or being acted on, by provider. */
function takenIdle({ fleet, frozen }: FleetSummaryOptions): ReadonlyMap<string, number> {
  const slots = new Set(fleet.pendingSlots());
  for (const id of frozen) {
    const slot = fleet.inventory.slotOf(id);
    if (slot >= 0) slots.add(slot);
  }
  const taken = new Map<string, number>();
  for (const slot of slots) {
    if (fleet.stateOf(slot) === State.Idle) addTo(taken, fleet.known.providerOf(slot), 1);
  }
  return taken;
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  if (key !== '') counts.set(key, (counts.get(key) ?? 0) + by);
}

// What the fleet amounts to, for a report: totals, and one line per provider. From the counts by
// class, never by a walk over machines; only machines with an action under way, or a freeze, are
// looked at one by one.

import { State, STATE_COUNT } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { ProviderDirectory } from './provider-directory.ts';
import type { FleetSummary, ProviderReport } from './shard-control.ts';

export interface ListFacts {
  readonly isHealthy: boolean;
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
  const { byInstanceType, byZone } = countByShape(fleet);
  const taken = takenIdle(options);
  const counts = countByProvider(fleet);
  const providers = [...directory.entries()].map(([name, entry]): ProviderReport => {
    const { address, source, isShared } = entry;
    const count = counts.get(name);
    const idle = count?.idleMachines ?? 0;
    const speculative = count?.speculativeMachines ?? 0;
    const { isHealthy, unixNanos } = listFacts(name);
    return {
      name,
      address,
      source,
      isShared,
      totalCount: count?.totalMachines ?? 0,
      idleCount: idle - (taken.get(name) ?? 0),
      freeCount: idle + speculative,
      speculativeCount: speculative,
      lastListUnixNanos: unixNanos,
      isHealthy,
    };
  });
  const { stateCounts, size } = fleet.inventory;
  const idle = stateCounts[State.Idle] ?? 0;
  return {
    totalCount: size,
    freeCount: idle + (stateCounts[State.Speculative] ?? 0),
    idleCount: idle - sum(taken.values()),
    byInstanceType,
    byZone,
    providers,
  };
}

interface ProviderCounts {
  readonly totalMachines: number;
  readonly idleMachines: number;
  readonly speculativeMachines: number;
}

/** By provider. Cost: one step per class and state. */
export function countByProvider({ inventory }: Fleet): ReadonlyMap<string, ProviderCounts> {
  const { classes } = inventory;
  const counts = new Map<string, { -readonly [K in keyof ProviderCounts]: number }>();
  for (let klass = 0; klass < classes.length; klass++) {
    const provider = classes.shape(klass)?.provider;
    if (provider === undefined) continue;
    const count = counts.get(provider) ?? {
      totalMachines: 0,
      idleMachines: 0,
      speculativeMachines: 0,
    };
    for (let state = 0; state < STATE_COUNT; state++) {
      const machines = classes.counts[klass * STATE_COUNT + state] ?? 0;
      count.totalMachines += machines;
      if (state === State.Idle) count.idleMachines += machines;
      if (state === State.Speculative) count.speculativeMachines += machines;
    }
    counts.set(provider, count);
  }
  return counts;
}

function countByShape({ inventory }: Fleet): Pick<FleetSummary, 'byInstanceType' | 'byZone'> {
  const byInstanceType = new Map<string, number>();
  const byZone = new Map<string, number>();
  const { classes } = inventory;
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    if (shape === undefined) continue;
    let count = 0;
    for (let state = 0; state < STATE_COUNT; state++) {
      count += classes.counts[klass * STATE_COUNT + state] ?? 0;
    }
    if (count === 0) continue;
    addTo(byInstanceType, shape.instanceType, count);
    addTo(byZone, shape.zone, count);
  }
  return { byInstanceType, byZone };
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

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

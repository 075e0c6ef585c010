// The engine as replay sees it: machines by id, plain values in and out. Two builds of the
// engine are compared through this interface, so it is a contract between versions: it changes
// only together with the version of the trace format.

import type { Brakes } from '../model/brakes.ts';
import { Engine, type CycleOptions, type EngineOptions } from '../cycle/engine.ts';
import { readActions, restoreMemory } from '../cycle/plain.ts';
import type { CycleMemory, Shortfall } from '../model/cycle.ts';
import type { ReleasePolicy } from '../model/capacity-type.ts';
import type { Machine, Withheld } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import type { StateCode } from '../model/state.ts';
import type { MoveChanges } from '../store/inventory.ts';
import { type ActionHash, actionHash } from './action-hash.ts';
import type { DecidedAction } from './entry.ts';

/** Inputs that can be refused answer false: an unknown machine, a record that breaks a rule. */
export interface EngineLike {
  put(machine: Machine, nowMs: number): boolean;
  remove(id: string): boolean;
  move(id: string, to: StateCode, changes: MoveChanges, nowMs: number): boolean;
  withhold(id: string, reason: Withheld | undefined): boolean;
  setIdleSince(id: string, sinceMs: number): boolean;
  applyRollup(cluster: string, needs: readonly Need[]): boolean;
  markReported(cluster: string): void;
  setHeldOff(heldOff: ReadonlySet<string>): void;
  setBrakes(brakes: Brakes): void;
  setReleasePolicy(policy: ReleasePolicy): void;
  /** Demand of a snapshot, which says nothing about the cluster's first roll-up. */
  loadDemand(cluster: string, needs: readonly Need[]): void;
  restoreMemory(memory: CycleMemory): void;
  machineCount(): number;
  rowCount(): number;
  cycle(options: CycleOptions): void;
  /** What the last cycle decided, in order. */
  actions(): readonly DecidedAction[];
  actionHash(): ActionHash;
  /** Dollars; 0 for an unknown machine. */
  pricePerHour(id: string): number;
  shortfalls(): ReadonlyMap<string, Shortfall>;
}

export type EngineBuild = (options: EngineOptions) => EngineLike;

/** This build's engine, empty. */
export const createEngineLike: EngineBuild = (options) => {
  const engine = new Engine(options);
  const { inventory } = engine;
  const at = (id: string, apply: (slot: number) => void): boolean => {
    const slot = inventory.slotOf(id);
    if (slot >= 0) apply(slot);
    return slot >= 0;
  };
  return {
    put: (machine, nowMs) => inventory.put(machine, nowMs).ok,
    remove: (id) => inventory.remove(id),
    move: (id, to, changes, nowMs) => at(id, (slot) => inventory.move(slot, to, changes, nowMs)),
    withhold: (id, reason) => at(id, (slot) => inventory.withhold(slot, reason)),
    setIdleSince: (id, sinceMs) => at(id, (slot) => inventory.setIdleSince(slot, sinceMs)),
    applyRollup: (cluster, needs) => engine.applyRollup(cluster, needs).ok,
    markReported: (cluster) => engine.markReported(cluster),
    setHeldOff: (heldOff) => engine.setHeldOff(heldOff),
    setBrakes: (brakes) => engine.setBrakes(brakes),
    setReleasePolicy: (policy) => {
      engine.releasePolicy = policy;
    },
    loadDemand: (cluster, needs) => engine.needs.replace(inventory.clusterIndex(cluster), needs),
    restoreMemory: (memory) => restoreMemory(engine, memory),
    machineCount: () => inventory.size,
    rowCount: () => engine.needs.rowCount,
    cycle: (cycleOptions) => engine.cycle(cycleOptions),
    actions: () => readActions(engine),
    actionHash: () => actionHash(engine),
    pricePerHour: (id) => {
      const slot = inventory.slotOf(id);
      return slot < 0 ? 0 : (inventory.classes.price[inventory.columns.klass[slot]!] ?? 0);
    },
    shortfalls: () => engine.shortfalls.entries,
  };
};

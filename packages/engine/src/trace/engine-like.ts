// The engine as replay sees it: machines by id, plain values in and out. Two builds of the
// engine are compared through this interface, so it is a contract between versions: it changes
// only together with the version of the trace format.

import type { Brakes } from '../model/brakes.ts';
import { Engine, type CycleOptions, type EngineOptions } from '../cycle/engine.ts';
import { readActions } from '../cycle/plain.ts';
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
export const createEngineLike: EngineBuild = (options) => new LiveEngine(options);

class LiveEngine implements EngineLike {
  readonly #engine: Engine;

  constructor(options: EngineOptions) {
    this.#engine = new Engine(options);
  }

  put(machine: Machine, nowMs: number): boolean {
    return this.#engine.inventory.put(machine, nowMs).ok;
  }

  remove(id: string): boolean {
    return this.#engine.inventory.remove(id);
  }

  move(id: string, to: StateCode, changes: MoveChanges, nowMs: number): boolean {
    return this.#at(id, (slot) => this.#engine.inventory.move(slot, to, changes, nowMs));
  }

  withhold(id: string, reason: Withheld | undefined): boolean {
    return this.#at(id, (slot) => this.#engine.inventory.withhold(slot, reason));
  }

  setIdleSince(id: string, sinceMs: number): boolean {
    return this.#at(id, (slot) => this.#engine.inventory.setIdleSince(slot, sinceMs));
  }

  applyRollup(cluster: string, needs: readonly Need[]): boolean {
    return this.#engine.applyRollup(cluster, needs).ok;
  }

  markReported(cluster: string): void {
    this.#engine.markReported(cluster);
  }

  setHeldOff(heldOff: ReadonlySet<string>): void {
    this.#engine.setHeldOff(heldOff);
  }

  setBrakes(brakes: Brakes): void {
    this.#engine.setBrakes(brakes);
  }

  setReleasePolicy(policy: ReleasePolicy): void {
    this.#engine.releasePolicy = policy;
  }

  loadDemand(cluster: string, needs: readonly Need[]): void {
    this.#engine.needs.replace(this.#engine.inventory.clusterIndex(cluster), needs);
  }

  restoreMemory({ parkingAges, shortfalls }: CycleMemory): void {
    const { inventory, parking } = this.#engine;
    parking.restore(parkingAges, (key) =>
      inventory.clusterIndex(key.slice(0, Math.max(0, key.indexOf('\u0000')))),
    );
    this.#engine.shortfalls.restore(shortfalls);
  }

  machineCount(): number {
    return this.#engine.inventory.size;
  }

  rowCount(): number {
    return this.#engine.needs.rowCount;
  }

  cycle(options: CycleOptions): void {
    this.#engine.cycle(options);
  }

  actions(): readonly DecidedAction[] {
    return readActions(this.#engine);
  }

  actionHash(): ActionHash {
    return actionHash(this.#engine);
  }

  pricePerHour(id: string): number {
    const { inventory } = this.#engine;
    const slot = inventory.slotOf(id);
    return slot < 0 ? 0 : (inventory.classes.price[inventory.columns.klass[slot]!] ?? 0);
  }

  shortfalls(): ReadonlyMap<string, Shortfall> {
    return this.#engine.shortfalls.entries;
  }

  #at(id: string, apply: (slot: number) => void): boolean {
    const slot = this.#engine.inventory.slotOf(id);
    if (slot < 0) return false;
    apply(slot);
    return true;
  }
}

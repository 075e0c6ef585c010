// What reconcile needs to know of the machines that the shard knows: a view, so that the same
// rules run over the engine's inventory on one thread and over shared columns in a worker. Asked
// per row of a List, half a million times: everything but `read` is a few array reads.

import type { Machine, Resources, StateCode } from '@bigfleet/engine';

export interface KnownMachines {
  /** −1 when unknown. */
  slotOf(id: string): number;
  /** Slots of the machines that this provider listed; machines may come and go between two. */
  slotsOf(provider: string): Iterable<number>;
  /** How many machines this provider has listed and not lost; one step per class. */
  countOf(provider: string): number;
  idOf(slot: number): string;
  providerOf(slot: number): string;
  stateOf(slot: number): StateCode;
  /** Empty when unbound. */
  clusterOf(slot: number): string;
  /** The same object as long as nothing of the shape changed: compared by identity first. */
  shapeOf(slot: number): KnownShape;
  /** Whether some machine of any provider has or had this resource. */
  hasResource(name: string): boolean;
  /** How many more resource names machines may bring. */
  resourceRoom(): number;
  pendingOf(slot: number): Pending;
  /** When this process marked the machine Failed, if it did and the provider did not. */
  failedHereAtMs(slot: number): number | undefined;
  /** Written by others than reconcile since the List was asked for, which knows nothing of it. */
  isTouched(slot: number): boolean;
  /** The whole record. May allocate: asked only about machines that changed. */
  read(slot: number): Machine;
}

export type Pending =
  | 'none'
  /** An action is queued or under way: a List lags behind its call. */
  | 'in_flight'
  /** Draining waits for the operator; the provider still says Configured. */
  | 'drain_wait';

export interface KnownShape {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: number;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly labels: ReadonlyMap<string, string>;
  readonly allocatable: Resources;
}

// Room for resource names while a batch is screened: its machines are applied together, so the names
// of one count before they are in the fleet's table, or each of them would fit and all of them not.

export class ResourceRoom {
  readonly #known: KnownMachines;
  /** Of this batch, not in the table yet. Bound: the room there is. */
  readonly #taken = new Set<string>();

  constructor(known: KnownMachines) {
    this.#known = known;
  }

  nextBatch(): void {
    this.#taken.clear();
  }

  /** False when there is none: nothing is taken then. Nearly always no name is new. */
  take(resources: Resources): boolean {
    let added: string[] | undefined;
    for (const name of resources.keys()) {
      if (!this.#known.hasResource(name) && !this.#taken.has(name)) (added ??= []).push(name);
    }
    if (added === undefined) return true;
    if (this.#taken.size + added.length > this.#known.resourceRoom()) return false;
    for (const name of added) this.#taken.add(name);
    return true;
  }
}

// Room for resource names while a batch is screened: its machines are applied together, so the names
// of one count before they are in the fleet's table, or each of them would fit and all of them not.

import type { Resources } from '@bigfleet/engine';
import type { KnownMachines } from './known-machines.ts';

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

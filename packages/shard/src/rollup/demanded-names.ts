// Who may bring resource names into the engine's table, which holds so many and never gives one back:
// every name widens every vector. Half of it belongs to machines and half to demand, so that neither can
// leave the other without room, and each half has one judge: the fleet for machines, on the main thread,
// and this for demand. The two threads never have to agree about a name.
//
// One cluster brings few names that nobody else had: a broken or hostile one cannot take what the others
// need. The names that it brought count against it for as long as the process lives.

import { type Dimensions, MAX_DIMENSIONS, type Need } from '@bigfleet/engine';

/** Distinct resource names of machines, of all providers: half of the engine's table. */
export const MAX_MACHINE_NAMES = 128;
/** Distinct names that no machine had when a cluster first demanded them: the other half. */
const MAX_DEMANDED_NAMES: number = MAX_DIMENSIONS - MAX_MACHINE_NAMES;
const MAX_NAMES_PER_CLUSTER = 32;

export class DemandedNames {
  readonly #dimensions: Dimensions;
  /** By cluster that brought any; at most one entry per name. */
  readonly #counts = new Map<string, number>();
  #count = 0;

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions;
  }

  /** How many names the needs would add; undefined when they may not. */
  room(cluster: string, needs: readonly Need[]): number | undefined {
    const { size } = this.#dimensions.newNames(needs);
    const isOver =
      size > 0 &&
      (size > MAX_NAMES_PER_CLUSTER - (this.#counts.get(cluster) ?? 0) ||
        size > MAX_DEMANDED_NAMES - this.#count);
    return isOver ? undefined : size;
  }

  /** The needs are in the table. */
  taken(cluster: string, added: number): void {
    if (added === 0) return;
    this.#counts.set(cluster, (this.#counts.get(cluster) ?? 0) + added);
    this.#count += added;
  }
}

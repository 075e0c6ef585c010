// The demand of every cluster as the last roll-ups left it. A roll-up replaces its cluster's whole
// contribution; withdrawal is absence. The first one of a cluster, even an empty one, lifts the
// reclaim gate for good.
//
// Rows keep their first arrival across replacements, so that "older first" is real fairness. The
// older behaviour, every roll-up restamping its rows, can be asked for: cross-cluster order at
// equal priority then rotates the way real operators made it rotate, and the engine must stay
// inert under that.

import { assert } from '@bigfleet/base';
import { aggregateNeeds, type Need, needKey } from '@bigfleet/engine';

export type ArrivalStamps = 'first-seen' | 'restamped';

export class DemandTable {
  readonly #stamps: ArrivalStamps;
  readonly #rows = new Map<string, readonly Need[]>();
  readonly #reported = new Set<string>();

  constructor(stamps: ArrivalStamps = 'first-seen') {
    this.#stamps = stamps;
  }

  get reportedClusters(): ReadonlySet<string> {
    return this.#reported;
  }

  /** All rows; the cycle orders them. */
  rows(): Need[] {
    return [...this.#rows.values()].flat();
  }

  applyRollup(cluster: string, rows: readonly Need[], arrivalUnixNanos: bigint): void {
    this.#reported.add(cluster);
    const old = this.#rows.get(cluster) ?? [];
    const firstSeen = new Map(old.map((row) => [needKey(row), row.arrivalUnixNanos]));
    const stamped = aggregateNeeds(rows).map((row) => {
      assert(row.cluster === cluster, 'a roll-up speaks for its own cluster only', { cluster });
      const known = this.#stamps === 'first-seen' ? firstSeen.get(needKey(row)) : undefined;
      return { ...row, arrivalUnixNanos: known ?? arrivalUnixNanos };
    });
    if (stamped.length === 0) this.#rows.delete(cluster);
    else this.#rows.set(cluster, stamped);
  }
}

// The one place where a roll-up is admitted: on the engine's thread, in this order. Each step may
// refuse it with a stable code of base's roll-up refusals; a refused roll-up leaves no trace, so the
// demand, the guard's baseline and the silence of before stay.
//
//   1. shape and limits: its bytes are a roll-up of this cluster and every row is a need (rows.ts and
//      the engine's decodeRollup); malformed, cluster_mismatch, too_large, bad_*
//   2. names: there is room for the resource names that it brings; too_large
//   3. guard, rail 2: one that drops almost all rows is held until it was repeated; held, not refused
//   4. the cluster's rows are replaced, and the main thread hears of the profiles (demand-listing.ts)
//
// Bound: what one roll-up per cluster leaves in the rows, the names and the listing.

import { assert } from '@bigfleet/base';
import {
  type Engine,
  type Need,
  type RecordedEngine,
  RollupGuard,
  type RollupProblem,
} from '@bigfleet/engine';
import { type AppliedDemand, DemandListing, sharedParts } from './demand-listing.ts';
import { DemandedNames } from './demanded-names.ts';
import { RollupRows } from './rows.ts';

export interface RollupOrder {
  /** Whom the session speaks for. */
  readonly cluster: string;
  /** A ClusterCapacityNeeds, undecoded. The bytes must stay as they are until the verdict. */
  readonly bytes: Uint8Array;
  /** Rail 2 is on. */
  readonly isGuarded: boolean;
}

/** An administrator's confirmed empty roll-up: rail 2 does not hold it. */
export function emptyRollup(cluster: string): RollupOrder {
  return { cluster, bytes: new Uint8Array(), isGuarded: false };
}

export type RollupVerdict =
  /** In the NeedsTable now. */
  | {
      readonly kind: 'applied';
      readonly rows: number;
      readonly previousRows: number;
      /** 0, or how many roll-ups in a row it took to believe a drop. */
      readonly confirmedAfter: number;
      /** Undefined: the profiles and counts of the cluster's last one. */
      readonly demand: AppliedDemand | undefined;
    }
  /** Rail 2 keeps it out; the cluster's last accepted demand stays. */
  | {
      readonly kind: 'held';
      readonly rows: number;
      readonly previousRows: number;
      readonly consecutive: number;
    }
  /** Nothing of it was taken. `detail` names row and field, holds no demand and is fit for a log. */
  | { readonly kind: 'rejected'; readonly code: RollupProblem['code']; readonly detail: string };

/** The engine as the intake sees it, inline or in its thread. It takes these calls in their order. */
export interface RollupEngine {
  /** Settles in every case: it rejects with the environment's error when the thread is gone. */
  applyRollup(order: RollupOrder): Promise<RollupVerdict>;
  markReported(cluster: string): void;
}

export class RollupAdmission {
  readonly #recorded: RecordedEngine;
  /** To read from; demand goes in through the recorder only. */
  readonly #engine: Engine;
  readonly #guard = new RollupGuard();
  readonly #names: DemandedNames;
  readonly #listing = new DemandListing();
  readonly #rows: RollupRows = new RollupRows(
    sharedParts((fingerprint) => this.#listing.profileOf(fingerprint)),
  );
  readonly #rowCounts = new Map<string, number>();

  constructor(recorded: RecordedEngine, engine: Engine) {
    this.#recorded = recorded;
    this.#engine = engine;
    this.#names = new DemandedNames(engine.inventory.dimensions);
  }

  admit({ cluster, bytes, isGuarded }: RollupOrder): RollupVerdict {
    const read = this.#rows.read(cluster, bytes);
    if (!read.ok) return rejected(read.error);
    const needs = read.value;
    // Before the guard, whose baseline is the last roll-up that was taken.
    const addedNames = this.#names.room(cluster, needs);
    if (addedNames === undefined) return tooManyNames;
    const rows = needs.length;
    const previousRows = this.#rowCounts.get(cluster) ?? 0;
    // Unguarded: whatever comes is the new baseline, or switching the rail on later would hold it.
    if (!isGuarded) this.#guard.forget(cluster);
    const verdict = this.#guard.check(cluster, rows);
    if (verdict.kind === 'held') {
      this.#recorded.markReported(cluster);
      return { kind: 'held', rows, previousRows, consecutive: verdict.consecutive };
    }
    const applied = this.#recorded.applyRollup(cluster, needs);
    assert(applied.ok, 'the engine refused names that there was room for', { cluster });
    this.#names.taken(cluster, addedNames);
    this.#rowCounts.set(cluster, rows);
    const demand = this.#listing.replace(cluster, this.#needsOf(cluster));
    return { kind: 'applied', rows, previousRows, confirmedAfter: verdict.confirmedAfter, demand };
  }

  /** The cluster repeated its accepted roll-up: a streak of suspicious ones is over. */
  unchanged(cluster: string): void {
    this.#recorded.markReported(cluster);
    const rows = this.#rowCounts.get(cluster);
    if (rows !== undefined) this.#guard.check(cluster, rows);
  }

  /** As they stand in the table, where rows of one key are one. */
  #needsOf(cluster: string): readonly Need[] {
    const { inventory, needs } = this.#engine;
    return needs.rowsOf(inventory.clusterIndex(cluster)).map(({ need }) => need);
  }
}

function rejected({ code, row, field, detail }: RollupProblem): RollupVerdict {
  const place = row < 0 ? field : `needs[${row}].${field}`;
  return { kind: 'rejected', code, detail: `${place}: ${detail}` };
}

const tooManyNames: RollupVerdict = {
  kind: 'rejected',
  code: 'too_large',
  detail: 'more new resource names than a cluster may bring, or than the shard has room for',
};

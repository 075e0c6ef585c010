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
  type Dimensions,
  type Engine,
  MAX_DIMENSIONS,
  type Need,
  type RecordedEngine,
  RollupGuard,
  type RollupProblem,
} from '@bigfleet/engine';
import { type AppliedDemand, DemandListing, sharedParts } from './demand-listing.ts';
import { RollupRows } from './rows.ts';

export interface RollupOrder {
  /** Whom the session speaks for. */
  readonly cluster: string;
  /** A ClusterCapacityNeeds, undecoded. The bytes must stay as they are until the verdict. */
  readonly bytes: Uint8Array;
  /** Rail 2 is on. */
  readonly isGuarded: boolean;
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
  /** The cluster repeated its accepted roll-up. */
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

  /** An administrator ended the cluster's demand: the guard holds no confirmed empty roll-up. */
  forget(cluster: string): void {
    this.#guard.forget(cluster);
    this.#rowCounts.delete(cluster);
    this.#rows.forget(cluster);
    this.#listing.replace(cluster, []);
    this.#recorded.applyRollup(cluster, []);
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

/** Distinct resource names of machines, of all providers: half of the engine's table. */
export const MAX_MACHINE_NAMES = 128;
/** Distinct names that no machine had when a cluster first demanded them: the other half. */
const MAX_DEMANDED_NAMES: number = MAX_DIMENSIONS - MAX_MACHINE_NAMES;
const MAX_NAMES_PER_CLUSTER = 32;

/**
 * Who may bring resource names into the engine's table, which holds so many and never gives one
 * back: every name widens every vector. Half of it belongs to machines and half to demand, so that
 * neither can leave the other without room, and each half has one judge: the fleet for machines, on
 * the main thread, and this for demand. The two threads never have to agree about a name.
 *
 * One cluster brings few names that nobody else had: a broken or hostile one cannot take what the
 * others need. The names that it brought count against it for as long as the process lives.
 */
class DemandedNames {
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

// Demand that one side leaves unmet, over time: which rows, since when, why. A row is unmet from the cycle
// that finds it so until the cycle that does not.

import { type PriorityClass, priorityClassOf, type UnmetCode } from '@bigfleet/base';
import type { Shortfall } from '../model/cycle.ts';
import { MAX_COUNTED_ROWS, type TierShortfalls } from './answer.ts';

export const TIERS: readonly PriorityClass[] = ['critical', 'service', 'batch'];

export interface UnmetRow {
  readonly tier: PriorityClass;
  readonly cluster: string;
  readonly fingerprint: string;
  readonly sinceMs: number;
  reasonCode: UnmetCode;
  cycle: number;
}

type PerTier<T> = Readonly<Record<PriorityClass, T>>;

interface Totals {
  unmetMs: number;
  longestMs: number;
  readonly everUnmet: Set<string>;
  /** Now. */
  rowCount: number;
  readonly points: Int32Array;
}

export class Unmet {
  /** By cluster and fingerprint. */
  readonly rows: Map<string, UnmetRow> = new Map();
  readonly #totals: PerTier<Totals>;
  #atMs = 0;
  #cycle = 0;

  constructor(pointCount: number) {
    const totals = (): Totals => ({
      unmetMs: 0,
      longestMs: 0,
      everUnmet: new Set(),
      rowCount: 0,
      points: new Int32Array(pointCount),
    });
    this.#totals = { critical: totals(), service: totals(), batch: totals() };
  }

  /** The ledger as a cycle left it. */
  observe(shortfalls: ReadonlyMap<string, Shortfall>, atMs: number, point: number): void {
    const elapsedMs = atMs - this.#atMs;
    for (const tier of TIERS) {
      const totals = this.#totals[tier];
      totals.unmetMs += totals.rowCount * elapsedMs;
    }
    this.#atMs = atMs;
    this.#cycle += 1;
    for (const [fingerprint, shortfall] of shortfalls) {
      for (const cluster of shortfall.clusters) this.#see(cluster, fingerprint, shortfall);
    }
    for (const [key, row] of this.rows) {
      const totals = this.#totals[row.tier];
      totals.longestMs = Math.max(totals.longestMs, atMs - row.sinceMs);
      if (row.cycle === this.#cycle) continue;
      this.rows.delete(key);
      totals.rowCount -= 1;
    }
    for (const tier of TIERS) {
      const { points, rowCount } = this.#totals[tier];
      points[point] = Math.max(points[point]!, rowCount);
    }
  }

  #see(cluster: string, fingerprint: string, { profile, reasonCode }: Shortfall): void {
    const key = rowKey(cluster, fingerprint);
    const known = this.rows.get(key);
    if (known !== undefined) {
      known.reasonCode = reasonCode;
      known.cycle = this.#cycle;
      return;
    }
    const tier = priorityClassOf(profile.priority);
    const totals = this.#totals[tier];
    totals.rowCount += 1;
    if (totals.everUnmet.size < MAX_COUNTED_ROWS) totals.everUnmet.add(key);
    const sinceMs = this.#atMs;
    const cycle = this.#cycle;
    this.rows.set(key, { tier, cluster, fingerprint, sinceMs, reasonCode, cycle });
  }

  shortfalls(): Record<PriorityClass, TierShortfalls> {
    return perTier((tier) => {
      const { unmetMs, longestMs, everUnmet } = this.#totals[tier];
      return { unmetSeconds: unmetMs / 1_000, rowCount: everUnmet.size, longestMs };
    });
  }

  points(): Record<PriorityClass, readonly number[]> {
    return perTier((tier) => [...this.#totals[tier].points]);
  }
}

function rowKey(cluster: string, fingerprint: string): string {
  return `${cluster}\u0000${fingerprint}`;
}

function perTier<T>(of: (tier: PriorityClass) => T): Record<PriorityClass, T> {
  return { critical: of('critical'), service: of('service'), batch: of('batch') };
}

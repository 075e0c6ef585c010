// The acquirable pools as one pass of a cycle sees them: each class is consumed from its
// smallest id upwards, so what is taken is a prefix and a cursor per class says all. Two passes
// keep separate views: the real claims, and the virtual consumption of the domain choice.
// A new cycle costs nothing: cursors reset themselves when they are next looked at.

import type { Inventory } from '../store/inventory.ts';
import { SlotCursor, type SlotOrder, slotKey, type SortedSlots } from '../store/sorted-slots.ts';

export const IDLE = 0;
export const SPECULATIVE = 1;
export type PoolState = typeof IDLE | typeof SPECULATIVE;

export class PoolView {
  readonly #pools: readonly [(SortedSlots | undefined)[], (SortedSlots | undefined)[]];
  readonly #cursors: readonly [(Tagged | undefined)[], (Tagged | undefined)[]] = [[], []];
  #cycle = 0;
  /** Classes and pools that were used up so far: whoever saw the same number saw the same ones. */
  emptiedCount = 0;
  /** Speculative machines that may still be bought, by provider index; absent is unlimited. */
  readonly #quota: (number | undefined)[] = [];

  constructor(inventory: Inventory) {
    this.#pools = [inventory.idlePools, inventory.speculativePools];
  }

  /** Forgets everything that was taken. */
  begin(quotaRemaining: readonly (number | undefined)[]): void {
    this.#cycle += 1;
    this.emptiedCount = 0;
    this.#quota.length = 0;
    for (const remaining of quotaRemaining) this.#quota.push(remaining);
  }

  /** Machines of the class that are still there, quota aside. */
  remaining(state: PoolState, klass: number): number {
    const pool = this.#pools[state][klass];
    if (pool === undefined || pool.size === 0) return 0;
    return this.#cursor(state, klass, pool).remaining;
  }

  /** The smallest id that is still there, as a slot; −1 for none. */
  head(state: PoolState, klass: number): number {
    const pool = this.#pools[state][klass];
    if (pool === undefined || pool.size === 0) return -1;
    return this.#cursor(state, klass, pool).peek();
  }

  /** Whether any provider is limited at all. */
  get hasQuotas(): boolean {
    return this.#quota.some((remaining) => remaining !== undefined);
  }

  hasQuota(provider: number): boolean {
    return (this.#quota[provider] ?? 1) > 0;
  }

  /** Takes the head of the class. */
  take(state: PoolState, klass: number, provider: number): number {
    const cursor = this.#cursor(state, klass, this.#pools[state][klass] as SortedSlots);
    const slot = cursor.peek();
    cursor.advance();
    if (cursor.remaining === 0) this.emptiedCount += 1;
    if (state === SPECULATIVE) {
      const remaining = this.#quota[provider];
      if (remaining !== undefined) this.#quota[provider] = remaining - 1;
    }
    return slot;
  }

  /** Whether the machine was taken: it sorts before the head of its class. */
  isTaken(state: PoolState, klass: number, slot: number, order: SlotOrder): boolean {
    const pool = this.#pools[state][klass];
    if (pool === undefined || pool.size === 0) return false;
    const head = this.#cursor(state, klass, pool).peek();
    return head < 0 || slotKey(order, slot) < slotKey(order, head);
  }

  #cursor(state: PoolState, klass: number, pool: SortedSlots): SlotCursor {
    const known = this.#cursors[state][klass];
    if (known === undefined) {
      const made = { cursor: new SlotCursor(pool), cycle: this.#cycle };
      this.#cursors[state][klass] = made;
      return made.cursor;
    }
    if (known.cycle !== this.#cycle) {
      known.cycle = this.#cycle;
      known.cursor.reset();
    }
    return known.cursor;
  }
}

interface Tagged {
  readonly cursor: SlotCursor;
  cycle: number;
}

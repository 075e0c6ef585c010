// The acquirable pools as one pass of a cycle sees them: each class is consumed from its
// smallest id upwards, so what is taken is a prefix and a cursor per class says all. Two passes
// keep separate views: the real claims, and the virtual consumption of the domain choice.
// A new cycle costs nothing: cursors reset themselves when they are next looked at.

import { assert } from '@bigfleet/base';
import type { Allowance } from '../model/brakes.ts';
import type { Classes } from '../store/classes.ts';
import type { Inventory } from '../store/inventory.ts';
import { SlotCursor, type SlotOrder, slotKey, type SortedSlots } from '../store/sorted-slots.ts';

export const IDLE = 0;
export const SPECULATIVE = 1;
export type PoolState = typeof IDLE | typeof SPECULATIVE;

export class PoolView {
  readonly #classes: Classes;
  readonly #pools: readonly [(SortedSlots | undefined)[], (SortedSlots | undefined)[]];
  readonly #cursors: readonly [(Tagged | undefined)[], (Tagged | undefined)[]] = [[], []];
  #cycle = 0;
  /** Classes and pools that were used up so far: whoever saw the same number saw the same ones. */
  emptiedCount = 0;
  /** Speculative machines that may still be bought, by provider index; absent is unlimited. */
  readonly #quota: (number | undefined)[] = [];
  /** Of instance types whose purchases pause, by class. */
  #types: ReadonlyMap<number, Allowance> | undefined;

  constructor(inventory: Inventory) {
    this.#classes = inventory.classes;
    this.#pools = [inventory.idlePools, inventory.speculativePools];
  }

  /** Forgets everything that was taken. */
  begin(
    quotaRemaining: readonly (number | undefined)[],
    types?: ReadonlyMap<number, Allowance>,
  ): void {
    this.#cycle += 1;
    this.emptiedCount = 0;
    this.#quota.length = 0;
    for (const remaining of quotaRemaining) this.#quota.push(remaining);
    this.#types = types;
    for (const type of types?.values() ?? []) type.left = type.allowed;
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

  /** Whether buying is limited at all. */
  get hasLimits(): boolean {
    return this.#types !== undefined || this.#quota.some((remaining) => remaining !== undefined);
  }

  /** Whether the slice of the class's provider has anything left. */
  hasQuota(klass: number): boolean {
    return (this.#quota[this.#classes.provider[klass]!] ?? 1) > 0;
  }

  /** Whether a Speculative machine of the class may be bought. */
  mayBuy(klass: number): boolean {
    if (this.#types !== undefined && this.#types.get(klass)?.left === 0) return false;
    return this.hasQuota(klass);
  }

  /** Takes the head of the class. */
  take(state: PoolState, klass: number): number {
    const cursor = this.#cursor(state, klass, this.#pools[state][klass] as SortedSlots);
    const slot = cursor.peek();
    assert(slot >= 0, 'taken from a class that is used up');
    cursor.advance();
    if (cursor.remaining === 0) this.emptiedCount += 1;
    if (state === SPECULATIVE) this.#bought(klass);
    return slot;
  }

  #bought(klass: number): void {
    const provider = this.#classes.provider[klass]!;
    const remaining = this.#quota[provider];
    assert(remaining === undefined || remaining > 0, 'bought beyond the slice of quota');
    if (remaining !== undefined) this.#quota[provider] = remaining - 1;
    const type = this.#types?.get(klass);
    assert(type === undefined || type.left > 0, 'bought a type that is paused');
    if (type !== undefined) type.left -= 1;
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

// Configured machines by class and effective priority, so that Phase 2 finds the machines it
// may take without walking those it may not, and knows in O(1) that there are none.

import { assert } from '@bigfleet/base';
import type { Columns } from './columns.ts';

const NO_GROUPS: ReadonlyMap<number, readonly number[]> = new Map();

export class VictimIndex {
  readonly #columns: Columns;
  /** By class: priority to slots, in no order. */
  readonly #byClass: (Map<number, number[]> | undefined)[] = [];

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  add(slot: number): void {
    const klass = this.#columns.klass[slot]!;
    const priority = this.#columns.effectivePriority[slot]!;
    let priorities = this.#byClass[klass];
    if (priorities === undefined) this.#byClass[klass] = priorities = new Map();
    let slots = priorities.get(priority);
    if (slots === undefined) priorities.set(priority, (slots = []));
    this.#columns.victimPosition[slot] = slots.length;
    slots.push(slot);
  }

  /** Before the class or the effective priority of the slot changes. */
  remove(slot: number): void {
    const klass = this.#columns.klass[slot]!;
    const priority = this.#columns.effectivePriority[slot]!;
    const priorities = this.#byClass[klass];
    const slots = priorities?.get(priority);
    const position = this.#columns.victimPosition[slot]!;
    assert(
      priorities !== undefined && slots?.[position] === slot,
      'a machine moved among the victims without being told',
    );
    const last = slots.pop()!;
    if (last !== slot) {
      slots[position] = last;
      this.#columns.victimPosition[last] = position;
    }
    if (slots.length === 0) priorities.delete(priority);
  }

  /** Calls `visit` for every slot of the class below the priority. */
  forEachBelow(klass: number, priority: number, visit: (slot: number) => void): void {
    const priorities = this.#byClass[klass];
    if (priorities === undefined) return;
    for (const [candidate, slots] of priorities) {
      if (candidate < priority) for (const slot of slots) visit(slot);
    }
  }

  /** Whether the class holds any machine. */
  hasAny(klass: number): boolean {
    return (this.#byClass[klass]?.size ?? 0) > 0;
  }

  /** The machines of the class by effective priority, in no order. */
  groupsOf(klass: number): ReadonlyMap<number, readonly number[]> {
    return this.#byClass[klass] ?? NO_GROUPS;
  }

  /** Whether the class holds a machine below the priority. */
  hasBelow(klass: number, priority: number): boolean {
    const priorities = this.#byClass[klass];
    if (priorities === undefined) return false;
    for (const candidate of priorities.keys()) if (candidate < priority) return true;
    return false;
  }
}

// The engine's inventory as the view that reconcile reads. What the inventory does not know —
// which machines are pending, which this process marked Failed — its owner says.

import { assert } from '@bigfleet/base';
import { type Engine, type Machine, STATE_COUNT, type StateCode } from '@bigfleet/engine';
import { MAX_MACHINE_NAMES } from '../../rollup/admission.ts';
import type { KnownMachines, KnownShape, Pending } from './known-machines.ts';

type Inventory = Engine['inventory'];
type ClassShape = NonNullable<ReturnType<Inventory['classes']['shape']>>;

export interface LocalMarks {
  pendingOf(slot: number): Pending;
  failedHereAtMs(slot: number): number | undefined;
  isTouched(slot: number): boolean;
}

export class EngineView implements KnownMachines {
  readonly #inventory: Inventory;
  readonly #marks: LocalMarks;
  /** A class keeps its shape object for life, so this is per class. */
  readonly #shapes = new WeakMap<ClassShape, KnownShape>();

  constructor(inventory: Inventory, marks: LocalMarks) {
    this.#inventory = inventory;
    this.#marks = marks;
  }

  slotOf(id: string): number {
    return this.#inventory.slotOf(id);
  }

  *slotsOf(provider: string): Iterable<number> {
    const { ids, slotCount } = this.#inventory;
    for (let slot = 0; slot < slotCount; slot++) {
      if (ids[slot] !== '' && this.providerOf(slot) === provider) yield slot;
    }
  }

  countOf(provider: string): number {
    const { classes } = this.#inventory;
    let count = 0;
    for (let klass = 0; klass < classes.length; klass++) {
      if (classes.shape(klass)?.provider !== provider) continue;
      const first = klass * STATE_COUNT;
      for (let cell = first; cell < first + STATE_COUNT; cell++) {
        count += classes.counts[cell] as number;
      }
    }
    return count;
  }

  idOf(slot: number): string {
    return this.#inventory.ids[slot] ?? '';
  }

  providerOf(slot: number): string {
    return this.#classShape(slot).provider;
  }

  stateOf(slot: number): StateCode {
    return this.#inventory.columns.state[slot] as StateCode;
  }

  clusterOf(slot: number): string {
    const cluster = this.#inventory.columns.cluster[slot] as number;
    return cluster < 0 ? '' : this.#inventory.clusters.text(cluster);
  }

  shapeOf(slot: number): KnownShape {
    const shape = this.#classShape(slot);
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const klass = this.#inventory.columns.klass[slot] as number;
    const whole = { ...shape, allocatable: this.#inventory.classes.allocatable.read(klass) };
    this.#shapes.set(shape, whole);
    return whole;
  }

  hasResource(name: string): boolean {
    return this.#inventory.dimensions.has(name);
  }

  resourceRoom(): number {
    return MAX_MACHINE_NAMES - this.#inventory.dimensions.count;
  }

  pendingOf(slot: number): Pending {
    return this.#marks.pendingOf(slot);
  }

  failedHereAtMs(slot: number): number | undefined {
    return this.#marks.failedHereAtMs(slot);
  }

  isTouched(slot: number): boolean {
    return this.#marks.isTouched(slot);
  }

  read(slot: number): Machine {
    return this.#inventory.read(slot);
  }

  #classShape(slot: number): ClassShape {
    const { classes, columns } = this.#inventory;
    const shape = classes.shape(columns.klass[slot] as number);
    assert(shape !== undefined, 'a slot in use has a class', { slot });
    return shape;
  }
}

// What reconcile knows of the shard's machines: the engine's inventory, and what only its owner knows
// of a machine — an action under way, a failure that this process declared. Asked per row of a List,
// half a million times: everything but `read` is a few array reads.

import { assert } from '@bigfleet/base';
import {
  type Engine,
  type Machine,
  type Resources,
  STATE_COUNT,
  type StateCode,
} from '@bigfleet/engine';
import { MAX_MACHINE_NAMES } from '../../rollup/demanded-names.ts';

export type Pending =
  | 'none'
  /** An action is queued or under way: a List lags behind its call. */
  | 'in_flight'
  /** Draining waits for the operator; the provider still says Configured. */
  | 'drain_wait';

export interface KnownShape {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: number;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly labels: ReadonlyMap<string, string>;
  readonly allocatable: Resources;
}

type Inventory = Engine['inventory'];
type ClassShape = NonNullable<ReturnType<Inventory['classes']['shape']>>;

export interface LocalMarks {
  pendingOf(slot: number): Pending;
  /** When this process marked the machine Failed, if it did and the provider did not. */
  failedHereAtMs(slot: number): number | undefined;
  /** Written by others than reconcile since the List was asked for, which knows nothing of it. */
  isTouched(slot: number): boolean;
}

export class KnownMachines {
  readonly #inventory: Inventory;
  readonly #marks: LocalMarks;
  /** A class keeps its shape object for life, so this is per class. */
  readonly #shapes = new WeakMap<ClassShape, KnownShape>();

  constructor(inventory: Inventory, marks: LocalMarks) {
    this.#inventory = inventory;
    this.#marks = marks;
  }

  /** −1 when unknown. */
  slotOf(id: string): number {
    return this.#inventory.slotOf(id);
  }

  /** Slots of the machines that this provider listed; machines may come and go between two. */
  *slotsOf(provider: string): Iterable<number> {
    const { ids, slotCount } = this.#inventory;
    for (let slot = 0; slot < slotCount; slot++) {
      if (ids[slot] !== '' && this.providerOf(slot) === provider) yield slot;
    }
  }

  /** How many machines this provider has listed and not lost; one step per class. */
  countOf(provider: string): number {
    const { classes } = this.#inventory;
    let count = 0;
    for (let klass = 0; klass < classes.length; klass++) {
      if (classes.shape(klass)?.provider === provider) count += machinesOfClass(classes, klass);
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

  /** Empty when unbound. */
  clusterOf(slot: number): string {
    const cluster = this.#inventory.columns.cluster[slot]!;
    return cluster < 0 ? '' : this.#inventory.clusters.text(cluster);
  }

  /** The same object as long as nothing of the shape changed: compared by identity first. */
  shapeOf(slot: number): KnownShape {
    const shape = this.#classShape(slot);
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const klass = this.#inventory.columns.klass[slot]!;
    const whole = { ...shape, allocatable: this.#inventory.classes.allocatable.read(klass) };
    this.#shapes.set(shape, whole);
    return whole;
  }

  /** Whether some machine of any provider has or had this resource. */
  hasResource(name: string): boolean {
    return this.#inventory.dimensions.has(name);
  }

  /** How many more resource names machines may bring. */
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

  /** The whole record. May allocate: asked only about machines that changed. */
  read(slot: number): Machine {
    return this.#inventory.read(slot);
  }

  #classShape(slot: number): ClassShape {
    const { classes, columns } = this.#inventory;
    const shape = classes.shape(columns.klass[slot]!);
    assert(shape !== undefined, 'a slot in use has a class', { slot });
    return shape;
  }
}

/** In any state. */
export function machinesOfClass({ counts }: Inventory['classes'], klass: number): number {
  const first = klass * STATE_COUNT;
  let count = 0;
  for (let cell = first; cell < first + STATE_COUNT; cell++) count += counts[cell]!;
  return count;
}

/**
 * Room for resource names while a batch is screened: its machines are applied together, so the names
 * of one count before they are in the fleet's table, or each of them would fit and all of them not.
 */
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

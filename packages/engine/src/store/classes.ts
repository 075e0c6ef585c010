// Interchangeability classes: machines that no rule of the engine can tell apart except by id
// and binding. Everything that depends only on shape is computed per class, never per machine.
// Class numbers are reused when the last machine of a class is gone (spot prices make new
// classes all day); `log` names every class that was defined since the start, so that caches
// over classes catch up by reading its tail.

import { compareText } from '@bigfleet/base';
import type { CapacityTypeCode } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { attributeOf, type Attributes } from '../model/requirement.ts';
import { type Resources, resourcesKey } from '../model/resources.ts';
import { STATE_COUNT } from '../model/state.ts';
import { type Dimensions, VectorTable } from './dimensions.ts';
import { hashText } from './input-digest.ts';

export interface ClassShape extends Attributes {
  readonly provider: string;
  readonly capacityType: CapacityTypeCode;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
}

interface Joined {
  readonly id: number;
  /** A number that was given to another class since has another object here. */
  readonly shape: ClassShape;
  readonly allocatable: Resources;
}

/** Entries that the log may hold beyond twice the classes. */
const MAX_LOG_SLACK = 4_096;

export class Classes {
  readonly #ids = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #hashes: number[] = [];
  readonly #shapes: (ClassShape | undefined)[] = [];
  readonly #members: number[] = [];
  readonly #free: number[] = [];
  /** By labels object. */
  readonly #lastJoined = new WeakMap<Machine['labels'], Joined>();
  readonly #allocatable: VectorTable;
  readonly #providers: string[] = [];
  /** Classes in the order of their definition; a reused number appears again. */
  readonly log: number[] = [];
  #logEpoch = 0;
  price: Float64Array = new Float64Array(64);
  probability: Float64Array = new Float64Array(64);
  capacityType: Uint8Array = new Uint8Array(64);
  provider: Uint16Array = new Uint16Array(64);
  /** Machines by class × state, whoever holds them. */
  counts: Int32Array = new Int32Array(64 * STATE_COUNT);

  constructor(dimensions: Dimensions) {
    this.#allocatable = new VectorTable(dimensions);
  }

  /** Rises when the log was rewritten: readers of its tail start again. */
  get logEpoch(): number {
    return this.#logEpoch;
  }

  /** One more than the highest class number in use. */
  get length(): number {
    return this.#shapes.length;
  }

  /** The table in which class `c` has its allocatable at row `c`. */
  get allocatable(): VectorTable {
    return this.#allocatable;
  }

  shape(id: number): ClassShape | undefined {
    return this.#shapes[id];
  }

  /** Of everything that makes the class: the same in every process. */
  hashOf(id: number): number {
    return this.#hashes[id] ?? 0;
  }

  providerName(index: number): string {
    return this.#providers[index] ?? '';
  }

  get providerCount(): number {
    return this.#providers.length;
  }

  valueOf(id: number, key: string): string | undefined {
    const shape = this.#shapes[id];
    return shape === undefined ? undefined : attributeOf(shape, key);
  }

  /** The machine's class, defined if it is new, with one member more. */
  join(machine: Machine): number {
    const id = this.#sameObjects(machine) ?? this.#sameContent(machine);
    this.#members[id] = (this.#members[id] ?? 0) + 1;
    return id;
  }

  /**
   * The class that was joined last with these very label and resource objects, which are immutable:
   * machines of one List share theirs, and the canonical text of each would be most of a write.
   */
  #sameObjects(machine: Machine): number | undefined {
    const last = this.#lastJoined.get(machine.labels);
    if (last === undefined || last.allocatable !== machine.allocatable) return undefined;
    const shape = this.#shapes[last.id];
    return shape === last.shape && hasSameScalars(shape, machine) ? last.id : undefined;
  }

  #sameContent(machine: Machine): number {
    const key = classKey(machine);
    const id = this.#ids.get(key) ?? this.#define(key, machine);
    const { labels, allocatable } = machine;
    this.#lastJoined.set(labels, { id, shape: this.#shapes[id] as ClassShape, allocatable });
    return id;
  }

  leave(id: number): void {
    const left = (this.#members[id] ?? 0) - 1;
    this.#members[id] = left;
    if (left > 0) return;
    this.#ids.delete(this.#keys[id] ?? '');
    this.#shapes[id] = undefined;
    this.#free.push(id);
  }

  #define(key: string, machine: Machine): number {
    const id = this.#free.pop() ?? this.#shapes.length;
    const row = id < this.#shapes.length ? id : this.#allocatable.allocate();
    this.#grow(row + 1);
    this.#ids.set(key, id);
    this.#keys[id] = key;
    this.#hashes[id] = hashText(key);
    this.#shapes[id] = shapeOf(machine);
    this.#allocatable.write(id, machine.allocatable);
    this.price[id] = machine.pricePerHour;
    this.probability[id] = machine.interruptionProbability;
    this.capacityType[id] = machine.capacityType;
    this.provider[id] = this.#providerIndex(machine.provider);
    this.log.push(id);
    if (this.log.length > this.#shapes.length * 2 + MAX_LOG_SLACK) this.#compactLog();
    return id;
  }

  /** Spot prices define classes all day: what is gone leaves the log. */
  #compactLog(): void {
    this.log.length = 0;
    for (let id = 0; id < this.#shapes.length; id++) {
      if (this.#shapes[id] !== undefined) this.log.push(id);
    }
    this.#logEpoch += 1;
  }

  #providerIndex(name: string): number {
    const known = this.#providers.indexOf(name);
    if (known >= 0) return known;
    this.#providers.push(name);
    return this.#providers.length - 1;
  }

  #grow(needed: number): void {
    if (needed <= this.price.length) return;
    const capacity = Math.max(needed, this.price.length * 2);
    this.price = grown(this.price, new Float64Array(capacity));
    this.probability = grown(this.probability, new Float64Array(capacity));
    this.capacityType = grown(this.capacityType, new Uint8Array(capacity));
    this.provider = grown(this.provider, new Uint16Array(capacity));
    this.counts = grown(this.counts, new Int32Array(capacity * STATE_COUNT));
  }
}

interface NumberArray<T> {
  set(source: T): void;
}

/** The old content in front of the new room. */
export function grown<T extends NumberArray<T>>(old: T, bigger: T): T {
  bigger.set(old);
  return bigger;
}

function shapeOf(machine: Machine): ClassShape {
  return {
    provider: machine.provider,
    instanceType: machine.instanceType,
    zone: machine.zone,
    labels: machine.labels,
    capacityType: machine.capacityType,
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
  };
}

/** Everything but labels and resources. */
function hasSameScalars(shape: ClassShape, machine: Machine): boolean {
  return (
    shape.pricePerHour === machine.pricePerHour &&
    shape.interruptionProbability === machine.interruptionProbability &&
    shape.capacityType === machine.capacityType &&
    shape.instanceType === machine.instanceType &&
    shape.zone === machine.zone &&
    shape.provider === machine.provider
  );
}

/** Everything that a rule may look at, in one canonical text. */
function classKey(machine: Machine): string {
  const labels = [...machine.labels.entries()].sort(([a], [b]) => compareText(a, b));
  return JSON.stringify([
    machine.provider,
    machine.instanceType,
    machine.zone,
    machine.capacityType,
    machine.pricePerHour,
    machine.interruptionProbability,
    labels,
    resourcesKey(machine.allocatable),
  ]);
}

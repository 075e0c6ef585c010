// An eligible set split by the values of a topology key. Domains are numbered in the order of
// their values, so that "smallest value" is "smallest number". Classes without the key are in no
// domain. Everything follows the set: it is rebuilt when the set's version changes.

import { compareText, type PenaltyBucket } from '@bigfleet/base';
import type { Classes } from '../store/classes.ts';
import { type ClassGroup, CostOrder } from './cost-order.ts';
import type { ClassSet } from './match-set.ts';

export class DomainSets {
  readonly #classes: Classes;
  readonly #set: ClassSet;
  readonly #key: string;
  #version = -1;
  #members: readonly number[] = [];
  /** By place in the members: the domain, −1 for none. */
  #domainOfMember: Int32Array = new Int32Array(0);
  #values: readonly string[] = [];
  #numbers = new Map<string, number>();
  #domains: ConfinedSet[] = [];

  constructor(classes: Classes, set: ClassSet, key: string) {
    this.#classes = classes;
    this.#set = set;
    this.#key = key;
  }

  get version(): number {
    this.#catchUp();
    return this.#version;
  }

  /** Ascending; the place of a value is the number of its domain. */
  get values(): readonly string[] {
    this.#catchUp();
    return this.#values;
  }

  /** By domain: the eligible set confined to it. */
  get domains(): readonly ConfinedSet[] {
    this.#catchUp();
    return this.#domains;
  }

  /** The classes of one value, if there are any. */
  confinedTo(value: string): ConfinedSet | undefined {
    return this.domains[this.numberOf(value)];
  }

  /** −1 for a value without a class. */
  numberOf(value: string): number {
    this.#catchUp();
    return this.#numbers.get(value) ?? -1;
  }

  /** The domain of a class; −1 for none, and for classes outside of the set. */
  domainOf(klass: number): number {
    this.#catchUp();
    const members = this.#members;
    let low = 0;
    let high = members.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (members[middle]! < klass) low = middle + 1;
      else high = middle;
    }
    return members[low] === klass ? this.#domainOfMember[low]! : -1;
  }

  #catchUp(): void {
    // Without the closures of the rebuild: they would cost an allocation per call.
    if (this.#version !== this.#set.version) this.#rebuild(this.#set.version);
  }

  #rebuild(version: number): void {
    this.#version = version;
    this.#members = this.#set.members;
    const valueOf = this.#members.map((klass) => this.#classes.valueOf(klass, this.#key));
    const known = new Map(this.#domains.map((domain) => [domain.value, domain]));
    const values = new Set(valueOf.filter((value) => value !== undefined));
    this.#values = [...values].sort(compareText);
    this.#numbers = new Map(this.#values.map((value, number) => [value, number]));
    this.#domains = this.#values.map((value) => known.get(value) ?? this.#confined(value));
    const members: number[][] = this.#values.map(() => []);
    this.#domainOfMember = Int32Array.from(valueOf, (value, at) => {
      const number = value === undefined ? -1 : (this.#numbers.get(value) as number);
      members[number]?.push(this.#members[at]!);
      return number;
    });
    for (const [number, domain] of this.#domains.entries()) {
      domain.follow(members[number]!, version);
    }
  }

  #confined(value: string): ConfinedSet {
    return new ConfinedSet(this.#classes, value);
  }
}

/** The classes of one domain: a list that the domains keep, not a set of its own to keep up. */
export class ConfinedSet implements ClassGroup {
  readonly #classes: Classes;
  readonly value: string;
  members: readonly number[] = [];
  version = -1;
  readonly #orders: (CostOrder | undefined)[] = [];

  constructor(classes: Classes, value: string) {
    this.#classes = classes;
    this.value = value;
  }

  follow(members: readonly number[], version: number): void {
    this.members = members;
    this.version = version;
  }

  order(bucket: PenaltyBucket, cycle: number): CostOrder {
    let order = this.#orders[bucket];
    if (order === undefined) {
      order = new CostOrder(this.#classes, this, bucket);
      this.#orders[bucket] = order;
    }
    return order.refresh(cycle);
  }
}

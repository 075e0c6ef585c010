// Machines of one provider, type, place, capacity type, price and risk are one class, as in the engine: a
// row names its class by number, and a filter or a group is decided once per class.

import type { MachineFacts } from '../facts.ts';
import { unitsOfDollars } from './money.ts';
import { bounded } from './texts.ts';

export type ClassFacts = Pick<
  MachineFacts,
  | 'provider'
  | 'instanceType'
  | 'region'
  | 'zone'
  | 'rack'
  | 'capacityType'
  | 'dollarsPerHour'
  | 'interruptionProbability'
>;

export interface MachineClass extends ClassFacts {
  readonly units: number;
}

const none: MachineClass = {
  provider: '',
  instanceType: '',
  region: '',
  zone: '',
  rack: '',
  capacityType: 1,
  dollarsPerHour: 0,
  interruptionProbability: 0,
  units: 0,
};

export class Classes {
  /** By number, for passes over half a million rows: an object per class would miss the cache each time. */
  units: Float64Array = new Float64Array(64);
  risk: Float64Array = new Float64Array(64);
  capacityType: Uint8Array = new Uint8Array(64);
  readonly #list: MachineClass[] = [none];
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];
  /** Prices move, names do not: classes by the hundred thousand share the texts of a few places and types. */
  readonly #words = new Map<string, string>();

  get length(): number {
    return this.#list.length;
  }

  get liveCount(): number {
    return this.#numbers.size;
  }

  /** 0 is no class. */
  at(number: number): MachineClass {
    return this.#list[number] ?? none;
  }

  intern(facts: ClassFacts): number {
    const key = keyOf(facts);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#list.length;
    this.#fill(number, facts);
    this.#list[number] = {
      provider: this.#word(facts.provider),
      instanceType: this.#word(facts.instanceType),
      region: this.#word(facts.region),
      zone: this.#word(facts.zone),
      rack: this.#word(facts.rack),
      capacityType: facts.capacityType,
      dollarsPerHour: facts.dollarsPerHour,
      interruptionProbability: facts.interruptionProbability,
      units: unitsOfDollars(facts.dollarsPerHour),
    };
    this.#numbers.set(key, number);
    return number;
  }

  #fill(number: number, facts: ClassFacts): void {
    if (number >= this.units.length) {
      this.units = grown(this.units, new Float64Array(2 * number));
      this.risk = grown(this.risk, new Float64Array(2 * number));
      this.capacityType = grown(this.capacityType, new Uint8Array(2 * number));
    }
    this.units[number] = unitsOfDollars(facts.dollarsPerHour);
    this.risk[number] = facts.interruptionProbability;
    this.capacityType[number] = facts.capacityType;
  }

  sweep(isUsed: Uint8Array): void {
    this.#words.clear();
    for (const [key, number] of this.#numbers) {
      if (isUsed[number] === 1) {
        const { provider, instanceType, region, zone, rack } = this.at(number);
        for (const word of [provider, instanceType, region, zone, rack]) this.#word(word);
        continue;
      }
      this.#numbers.delete(key);
      this.#list[number] = none;
      this.#free.push(number);
    }
  }

  #word(text: string): string {
    const kept = bounded(text);
    const known = this.#words.get(kept);
    if (known !== undefined) return known;
    this.#words.set(kept, kept);
    return kept;
  }
}

function grown<A extends Float64Array | Uint8Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

function keyOf(facts: ClassFacts): string {
  const { provider, instanceType, region, zone, rack } = facts;
  const numbers = `${facts.capacityType} ${facts.dollarsPerHour} ${facts.interruptionProbability}`;
  // A separator inside a name would make two classes one: names carry their length.
  const lengths = `${provider.length} ${instanceType.length} ${region.length} ${zone.length}`;
  return `${numbers} ${lengths} ${provider}${instanceType}${region}${zone}${rack}`;
}

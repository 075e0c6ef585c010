// The offerings file (providers A3), strictly: unknown keys, unsupported capacity types, duplicate
// buckets and empty files are errors that name the entry. A typo that became a default once turned
// reserved machines into on-demand ones, with another price and another Delete policy.

import { BigFleetError, parseQuantity } from '@bigfleet/base';
import type { CapacityTypeName } from '../../model/machine.ts';
import type { Offering } from './offering.ts';

export interface OfferingRules {
  /** The vendor's word for the type, e.g. `vm_size`; `instance_type` works everywhere. */
  readonly typeField?: string;
  /** The vendor's word for the place, e.g. `region`; `zone` works everywhere. */
  readonly zoneField?: string;
  /** What the substrate can really deliver. */
  readonly capacityTypes: readonly CapacityTypeName[];
  /** Further fields of this provider. */
  readonly extraFields?: readonly string[];
  /** Why the place is outside of what this process serves; undefined when it is inside. */
  readonly zoneProblem?: (zone: string) => string | undefined;
}

const CAPACITY_NAMES: ReadonlyMap<string, CapacityTypeName> = new Map([
  ['on_demand', 'OnDemand'],
  ['on-demand', 'OnDemand'],
  ['ondemand', 'OnDemand'],
  ['spot', 'Spot'],
  ['preemptible', 'Spot'],
  ['reserved', 'Reserved'],
  ['bare_metal', 'BareMetal'],
  ['bare-metal', 'BareMetal'],
  ['metal', 'BareMetal'],
]);
const COMMON_FIELDS = [
  'instance_type',
  'zone',
  'capacity_type',
  'count',
  'resources',
  'labels',
  'price_usd_per_hour',
] as const;
/** Of all offerings together: beyond it a count is a typo, and every slot is a record. */
const MAX_SLOTS = 1_000_000;
const MAX_PRICE = 100_000;

/** Throws `offerings_invalid`. */
export function parseOfferings(
  content: string,
  file: string,
  rules: OfferingRules,
): readonly Offering[] {
  const list = listOf(content, file);
  const offerings = list.map((value, index) => offeringOf(value, rules, entryOf(file, index)));
  refuseDuplicates(offerings, file);
  const slotCount = offerings.reduce((sum, { count }) => sum + count, 0);
  if (slotCount > MAX_SLOTS) throw invalid(file, `${slotCount} slots are more than ${MAX_SLOTS}`);
  return offerings;
}

function listOf(content: string, file: string): readonly unknown[] {
  if (content.trim() === '') throw invalid(file, 'the file is empty');
  let document: unknown;
  try {
    document = JSON.parse(content);
  } catch (cause) {
    throw invalid(file, `it is no JSON: ${cause instanceof Error ? cause.message : ''}`, cause);
  }
  if (!Array.isArray(document)) throw invalid(file, 'it must hold a JSON array');
  if (document.length === 0) throw invalid(file, 'it lists no offering');
  return document;
}

type Entry = (problem: string) => BigFleetError;
type Fields = ReadonlyMap<string, unknown>;

function offeringOf(value: unknown, rules: OfferingRules, entry: Entry): Offering {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw entry('it is not an object');
  }
  const fields: Fields = new Map(Object.entries(value));
  refuseUnknown(fields, rules, entry);
  const zone = textOf(fields, ['zone', rules.zoneField], entry);
  const outside = rules.zoneProblem?.(zone);
  if (outside !== undefined) throw entry(`zone ${JSON.stringify(zone)}: ${outside}`);
  return {
    instanceType: textOf(fields, ['instance_type', rules.typeField], entry),
    zone,
    capacityType: capacityOf(fields.get('capacity_type'), rules, entry),
    count: countOf(fields.get('count'), entry),
    resources: quantitiesOf(fields.get('resources'), entry),
    labels: textMapOf(fields.get('labels'), 'labels', entry),
    pricePerHour: priceOf(fields.get('price_usd_per_hour'), entry),
    extra: extraOf(fields, rules, entry),
  };
}

function refuseUnknown(fields: Fields, rules: OfferingRules, entry: Entry): void {
  const own = [rules.typeField, rules.zoneField, ...(rules.extraFields ?? [])];
  const known = [...COMMON_FIELDS, ...own];
  for (const name of fields.keys()) {
    if (!known.includes(name)) throw entry(`unknown field ${JSON.stringify(name)}`);
  }
}

function textOf(fields: Fields, names: readonly (string | undefined)[], entry: Entry): string {
  const given = names.filter((name) => name !== undefined && fields.has(name));
  const [name, second] = given;
  if (second !== undefined) throw entry(`${given.join(' and ')} say the same; give one`);
  const value = name === undefined ? undefined : fields.get(name);
  if (typeof value === 'string' && value !== '') return value;
  throw entry(`${name ?? names[1] ?? names[0] ?? ''} must be a text that is not empty`);
}

function capacityOf(value: unknown, rules: OfferingRules, entry: Entry): CapacityTypeName {
  const name = value ?? 'on_demand';
  const capacityType = typeof name === 'string' ? CAPACITY_NAMES.get(name) : undefined;
  if (capacityType === undefined) throw entry(`capacity_type ${JSON.stringify(name)} is unknown`);
  if (rules.capacityTypes.includes(capacityType)) return capacityType;
  throw entry(
    `capacity_type ${JSON.stringify(name)} is not what this substrate delivers ` +
      `(${rules.capacityTypes.join(', ')}): price, idle hold and Delete would be wrong`,
  );
}

function countOf(value: unknown, entry: Entry): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= MAX_SLOTS) {
    return value;
  }
  throw entry(`count must be a whole number from 1 to ${MAX_SLOTS}`);
}

function quantitiesOf(value: unknown, entry: Entry): ReadonlyMap<string, string> {
  const quantities = textMapOf(value, 'resources', entry);
  for (const [name, text] of quantities) {
    const quantity = parseQuantity(text);
    if (!quantity.ok || quantity.value.nanos <= 0n) {
      throw entry(`resources ${JSON.stringify(name)} must be a quantity above zero, e.g. 2Gi`);
    }
  }
  return quantities;
}

function textMapOf(value: unknown, name: string, entry: Entry): ReadonlyMap<string, string> {
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw entry(`${name} must be an object of texts`);
  }
  const entries = Object.entries(value).map(([key, text]: [string, unknown]): [string, string] => {
    if (typeof text !== 'string') throw entry(`${name} ${JSON.stringify(key)} must be a text`);
    return [key, text];
  });
  return new Map(entries);
}

function priceOf(value: unknown, entry: Entry): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= MAX_PRICE) {
    return value;
  }
  throw entry('price_usd_per_hour must be a number of dollars, 0 or more');
}

function extraOf(fields: Fields, rules: OfferingRules, entry: Entry): Offering['extra'] {
  const extra = new Map<string, string | number | boolean>();
  for (const name of rules.extraFields ?? []) {
    const value = fields.get(name);
    if (value === undefined) continue;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      throw entry(`${name} must be a text, a number or true or false`);
    }
    extra.set(name, value);
  }
  return extra;
}

/** Slot ids of two equal buckets would collide, and the seed would fail later and less clearly. */
function refuseDuplicates(offerings: readonly Offering[], file: string): void {
  const seen = new Map<string, number>();
  for (const [index, { instanceType, zone, capacityType }] of offerings.entries()) {
    const key = JSON.stringify([instanceType, zone, capacityType]);
    const first = seen.get(key);
    if (first !== undefined) {
      throw entryOf(file, index)(`it repeats entry ${first}: same type, zone and capacity type`);
    }
    seen.set(key, index);
  }
}

function entryOf(file: string, index: number): Entry {
  return (problem) => invalid(file, `entry ${index}: ${problem}`);
}

function invalid(file: string, problem: string, cause?: unknown): BigFleetError {
  const text = `offerings file ${file}: ${problem}`;
  return new BigFleetError('offerings_invalid', text, { fields: { file }, cause });
}

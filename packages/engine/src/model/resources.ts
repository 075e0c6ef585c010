// Resource vectors over plain maps, in the integer quanta of base: for the oracle, for ingest
// and for reports. The hot path has its own interned form. Absent is zero; sums saturate, so
// no total ever wraps or loses its sign.

import {
  compareText,
  fromQuanta,
  ok,
  type QuantityError,
  type Result,
  toQuanta,
} from '@bigfleet/base';

/** Resource name to quanta; every value is a positive safe integer. */
export type Resources = ReadonlyMap<string, number>;

export const noResources: Resources = new Map();

/** Demand rounds up and allocatable rounds down, so that rounding never invents capacity. */
export function parseResources(
  quantities: ReadonlyMap<string, string>,
  rounding: 'demand' | 'allocatable',
): Result<Resources, QuantityError> {
  const parsed = new Map<string, number>();
  for (const [name, text] of quantities) {
    const quanta = toQuanta(text, name, rounding);
    if (!quanta.ok) return quanta;
    if (quanta.value > 0) parsed.set(name, quanta.value);
  }
  return ok(parsed);
}

/** Canonical quantity strings, sorted by name. */
export function printResources(resources: Resources): Map<string, string> {
  const names = [...resources.keys()].sort(compareText);
  return new Map(names.map((name) => [name, fromQuanta(resources.get(name) ?? 0, name)]));
}

export function add(a: Resources, b: Resources): Resources {
  const sum = new Map(a);
  for (const [name, value] of b) sum.set(name, saturatingAdd(sum.get(name) ?? 0, value));
  return sum;
}

export function max(a: Resources, b: Resources): Resources {
  const result = new Map(a);
  for (const [name, value] of b) result.set(name, Math.max(result.get(name) ?? 0, value));
  return result;
}

/** a − b, stopping at zero in each dimension. */
export function subtract(a: Resources, b: Resources): Resources {
  const rest = new Map<string, number>();
  for (const [name, value] of a) {
    const left = value - (b.get(name) ?? 0);
    if (left > 0) rest.set(name, left);
  }
  return rest;
}

export function covers(have: Resources, want: Resources): boolean {
  for (const [name, value] of want) if ((have.get(name) ?? 0) < value) return false;
  return true;
}

/** Whether taking `supply` reduces at least one open dimension of `remaining`. */
export function contributes(supply: Resources, remaining: Resources): boolean {
  for (const name of remaining.keys()) if ((supply.get(name) ?? 0) > 0) return true;
  return false;
}

export function isZero(resources: Resources): boolean {
  return resources.size === 0;
}

export function isEqual(a: Resources, b: Resources): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, value] of a) if (b.get(name) !== value) return false;
  return true;
}

/** Two spellings of one value have one key. */
export function resourcesKey(resources: Resources): string {
  return [...resources.entries()]
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${escapeName(name)}=${value}`)
    .join(',');
}

/** Not encodeURIComponent, which throws on a lone surrogate. */
function escapeName(name: string): string {
  return name.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16)};`);
}

export function saturatingAdd(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

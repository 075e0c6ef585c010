// Safe handling of protobuf maps, which the library decodes into plain objects with string keys.
// Peers choose the keys: `map[key]` finds inherited members (`constructor`), `copy[key] = value`
// and Object.assign silently lose `__proto__`, and either breaks the byte-for-byte echo that
// providers owe. Every read, write and copy of a decoded map goes through here. The library itself
// keeps every key; entry order is not preserved (keys such as "7" move to the front), which the
// wire allows: sort before hashing.

import { compareText } from '@bigfleet/base';

/** A decoded map: own enumerable keys only. */
export type WireMap<V> = { readonly [key: string]: V };

/** The entry of this very key; never an inherited member. */
export function getOwn<V>(map: WireMap<V>, key: string): V | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Into a Map, for stores of our own: messages share the object that they were created from. */
export function toMap<V>(map: WireMap<V>): Map<string, V> {
  return new Map(Object.entries(map));
}

/** Back into what a message field takes; without prototype, so that it has entries only. */
export function fromMap<V>(map: ReadonlyMap<string, V>): { [key: string]: V } {
  const result = Object.create(null) as { [key: string]: V };
  for (const [key, value] of map) result[key] = value;
  return result;
}

/** Entries by the UTF-8 order of their keys: the order of peers that compare bytes. */
export function entriesSorted<V>(map: WireMap<V>): [string, V][] {
  return Object.entries(map).sort(([a], [b]) => compareText(a, b));
}

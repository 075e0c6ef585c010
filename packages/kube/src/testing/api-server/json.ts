// Objects of the test API server are plain JSON. Nothing here trusts a shape: a reader of a missing or
// wrongly typed field gets the type's empty value.

import { isObject } from '../../api/answer.ts';

export type Obj = Record<string, unknown>;

export function asObj(value: unknown): Obj {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The value at a path of keys, undefined where the path breaks off. */
export function at(value: unknown, ...keys: string[]): unknown {
  let here = value;
  for (const key of keys) {
    if (!isObject(here)) return undefined;
    here = here[key];
  }
  return here;
}

export function textAt(value: unknown, ...keys: string[]): string {
  return asText(at(value, ...keys));
}

export function metaOf(object: unknown): Obj {
  return asObj(at(object, 'metadata'));
}

/** The metadata itself, made when missing, for writers. */
export function ownMeta(object: Obj): Obj {
  const meta = asObj(object['metadata']);
  object['metadata'] = meta;
  return meta;
}

export function textMap(value: unknown): Readonly<Record<string, string>> {
  return asObj(value) as Record<string, string>;
}

export function clone<T>(value: T): T {
  if (Array.isArray(value)) return value.map(clone) as T;
  if (!isObject(value)) return value;
  const copy: Obj = {};
  for (const key of Object.keys(value)) copy[key] = clone((value as Obj)[key]);
  return copy as T;
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => isEqual(one, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** RFC 3339 with seconds, as metav1.Time prints. */
export function timeText(unixNanos: bigint): string {
  return `${new Date(Number(unixNanos / 1_000_000n)).toISOString().slice(0, 19)}Z`;
}

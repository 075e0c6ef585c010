// Strict deep equality as node:assert has it, for the kinds of values that the engine's tests
// compare: primitives, plain objects, arrays, maps, sets, typed arrays and class instances by
// their own fields. Refuses other built-ins (dates, errors, promises, …) and cycles by an error:
// a wrong "equal" would be a test that cannot fail. deep-equal.test.ts compares it with Node's.

const MAX_DEPTH = 100;

export function isDeepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, 0);
}

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (depth > MAX_DEPTH) throw new Error('deep-equal: too deep, or a cycle');
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map && b instanceof Map) return equalMaps(a, b, depth);
  if (a instanceof Set && b instanceof Set) return equalSets(a, b);
  refuseUnknownKinds(a);
  return equalFields(a, b, depth);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Own enumerable fields; of arrays and typed arrays also their length. */
function equalFields(a: object, b: object, depth: number): boolean {
  const keys = Object.keys(a);
  const others = new Map<string, unknown>(Object.entries(b));
  if (lengthOf(a) !== lengthOf(b) || keys.length !== others.size) return false;
  return Object.entries(a).every(
    ([key, value]) => others.has(key) && equal(value, others.get(key), depth + 1),
  );
}

function lengthOf(value: object): number {
  return Array.isArray(value) || isTypedArray(value) ? value.length : -1;
}

function equalMaps(
  a: ReadonlyMap<unknown, unknown>,
  b: ReadonlyMap<unknown, unknown>,
  depth: number,
): boolean {
  refuseObjects(a.keys());
  refuseObjects(b.keys());
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    if (!b.has(key) || !equal(value, b.get(key), depth + 1)) return false;
  }
  return true;
}

function equalSets(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): boolean {
  refuseObjects(a);
  refuseObjects(b);
  return a.size === b.size && [...a].every((value) => b.has(value));
}

/** Node searches a partner for each object by deep equality; nothing here needs that. */
function refuseObjects(values: Iterable<unknown>): void {
  for (const value of values) {
    if (isObject(value)) throw new Error('deep-equal: an object as member or key of a set or map');
  }
}

type TypedArray = Int8Array | Uint8Array | Int32Array | Uint32Array | Float64Array;

function isTypedArray(value: object): value is TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

function refuseUnknownKinds(value: object): void {
  const kind = Object.prototype.toString.call(value);
  const isKnown = kind === '[object Object]' || Array.isArray(value) || isTypedArray(value);
  if (!isKnown || Object.getOwnPropertySymbols(value).length > 0) {
    throw new Error(`deep-equal: cannot compare ${kind}`);
  }
}

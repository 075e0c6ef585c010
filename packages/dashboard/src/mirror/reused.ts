// A plain value made of the parts of the one before it, wherever they are equal: a status that comes every
// second differs in a few times, and a thousand of them kept must not be a thousand lists of sessions.

/** Rough sizes of what V8 makes: an object or list with its fields, a number that is no small integer. */
const OBJECT_BYTES = 32;
const FIELD_BYTES = 24;

export interface Reused<T> {
  readonly value: T;
  /** Of the parts that are new. */
  readonly bytes: number;
}

/** `next` as it is, sharing with `before` every part that is equal. */
export function reused<T>(before: unknown, next: T): Reused<T> {
  if (typeof next === 'string') {
    return before === next ? { value: before as T, bytes: 0 } : { value: next, bytes: next.length };
  }
  if (typeof next !== 'object' || next === null) return { value: next, bytes: 0 };
  const old = typeof before === 'object' && before !== null ? before : {};
  const parts = Object.entries(next).map(
    ([name, part]: [string, unknown]) => [name, reused(fieldOf(old, name), part)] as const,
  );
  const isEqual =
    Array.isArray(old) === Array.isArray(next) &&
    Object.keys(old).length === parts.length &&
    parts.every(([name, part]) => Object.hasOwn(old, name) && fieldOf(old, name) === part.value);
  if (isEqual) return { value: old as T, bytes: 0 };
  const value = Array.isArray(next)
    ? parts.map(([, part]) => part.value)
    : Object.fromEntries(parts.map(([name, part]) => [name, part.value]));
  const own = OBJECT_BYTES + parts.length * FIELD_BYTES;
  return { value: value as T, bytes: parts.reduce((sum, [, { bytes }]) => sum + bytes, own) };
}

function fieldOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

// A value as text, so that the same text means the same value down to the sign of a zero, and the
// same order of maps and sets: what two JavaScript engines computed can be compared by digest.
// Refuses functions and symbols, which have no value to compare.

export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value);
  if (typeof value !== 'object') throw new Error(`no canonical text for a ${typeof value}`);
  if (value instanceof Map) return `Map{${pairs(value)}}`;
  if (value instanceof Set) return `Set[${list(value)}]`;
  if (Array.isArray(value)) return `[${list(value)}]`;
  return `{${pairs(Object.entries(value))}}`;
}

function list(values: Iterable<unknown>): string {
  return Array.from(values, canonicalText).join();
}

function pairs(entries: Iterable<readonly [unknown, unknown]>): string {
  return Array.from(
    entries,
    ([key, value]) => `${canonicalText(key)}:${canonicalText(value)}`,
  ).join();
}

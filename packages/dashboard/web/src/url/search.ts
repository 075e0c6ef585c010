// What a page keeps in its URL, read strictly: a link that a colleague sends must show the same picture or
// say what is wrong with it, never something near it. Values that equal their default are not written, so
// that links stay short. Pure: the router and the tests use the same functions.

/** How one parameter is read from text and written to it. */
export interface Codec<T> {
  readonly fallback: T;
  /** In words, for the message about a wrong one. */
  readonly allowed: string;
  /** Undefined when the text is not one of the allowed. */
  read(text: string): T | undefined;
  write(value: T): string;
}

export type SearchSpec = Readonly<Record<string, Codec<unknown>>>;
type CodecValue<C> = C extends Codec<infer T> ? T : never;
export type Search<S> = { readonly [K in keyof S]: CodecValue<S[K]> };

/** Longer text is refused by the server too. */
const MAX_TEXT = 4_096;
const MAX_TIME_MS = 8.64e15;

export const text: Codec<string> = {
  fallback: '',
  allowed: `text of at most ${MAX_TEXT} characters`,
  read: (value) => (value.length <= MAX_TEXT ? value : undefined),
  write: (value) => value,
};

/** Milliseconds since 1970; 0 is now. */
export const time: Codec<number> = {
  fallback: 0,
  allowed: 'a whole number of milliseconds since 1970; 0 is now',
  read: (value) => wholeNumber(value, 0, MAX_TIME_MS),
  write: String,
};

export const flag: Codec<boolean> = {
  fallback: false,
  allowed: '0 or 1',
  read: (value) => (value === '1' ? true : value === '0' ? false : undefined),
  write: (value) => (value ? '1' : '0'),
};

export function int(fallback: number, min: number, max: number): Codec<number> {
  return {
    fallback,
    allowed: `a whole number from ${min} to ${max}`,
    read: (value) => wholeNumber(value, min, max),
    write: String,
  };
}

export function oneOf<const T extends string>(words: readonly T[], fallback: T): Codec<T> {
  return {
    fallback,
    allowed: words.map((word) => (word === '' ? 'nothing' : word)).join(', '),
    read: (value) => words.find((word) => word === value),
    write: (value) => value,
  };
}

function wholeNumber(value: string, min: number, max: number): number | undefined {
  if (!/^\d{1,16}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}

export interface WrongParameter {
  readonly name: string;
  readonly value: string;
  readonly message: string;
}

export type ReadSearch<S> =
  | { readonly ok: true; readonly search: Search<S> }
  | { readonly ok: false; readonly wrong: readonly WrongParameter[] };

/** All wrong parameters at once, so that a person mends a link in one go. */
export function readSearch<S extends SearchSpec>(
  spec: S,
  raw: Readonly<Record<string, string>>,
): ReadSearch<S> {
  const values: Record<string, unknown> = {};
  const wrong: WrongParameter[] = [];
  for (const [name, codec] of Object.entries(spec)) values[name] = codec.fallback;
  for (const [name, value] of Object.entries(raw)) {
    const codec = Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (codec === undefined) {
      const known = Object.keys(spec).join(', ');
      wrong.push({ name, value, message: `This page has no such parameter. It knows: ${known}.` });
      continue;
    }
    const read = codec.read(value);
    if (read === undefined) wrong.push({ name, value, message: `It may be ${codec.allowed}.` });
    else values[name] = read;
  }
  if (wrong.length > 0) return { ok: false, wrong };
  // Every key of the spec holds a value of its codec.
  return { ok: true, search: values as Search<S> };
}

/** Only what differs from the default, in the order of the spec. */
export function writeSearch<S extends SearchSpec>(
  spec: S,
  search: Partial<Search<S>>,
): Record<string, string> {
  const raw: Record<string, string> = {};
  for (const [name, codec] of Object.entries(spec)) {
    const value: unknown = search[name as keyof S];
    if (value !== undefined && value !== codec.fallback) raw[name] = codec.write(value);
  }
  return raw;
}

/** A query without its `?` to a record; of a repeated parameter the last one counts. */
export function parseQuery(query: string): Record<string, string> {
  const raw: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(query)) raw[name] = value;
  return raw;
}

export function printQuery(raw: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(raw).toString();
  return query === '' ? '' : `?${query}`;
}

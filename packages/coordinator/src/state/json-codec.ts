// A small strict codec between typed rows and JSON, so that every stored value is canonical (fixed
// key order, no spaces, integers only) and every value read back was checked field by field. Keys
// are read as own properties only: a row named `__proto__` is data, never a prototype. A decoder
// throws `coordinator_row_malformed` with the path of what is wrong; it never repairs.

import { BigFleetError } from '@bigfleet/base';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface DecodeContext {
  /** Where in the document, for the message. */
  readonly at: string;
  /** Rows of our own store are exact; a snapshot may come from a newer version. */
  readonly unknownKeys: 'refuse' | 'ignore';
}

export interface Codec<T> {
  encode(value: T): Json;
  decode(json: unknown, context: DecodeContext): T;
}

const INT64_MAX = 2n ** 63n - 1n;
const DECIMAL = /^(0|[1-9][0-9]{0,18})$/;

export function malformed(context: DecodeContext, problem: string, cause?: unknown): BigFleetError {
  return new BigFleetError('coordinator_row_malformed', `${context.at}: ${problem}`, { cause });
}

export const text: Codec<string> = {
  encode: (value) => value,
  decode(json, context) {
    if (typeof json !== 'string') throw malformed(context, 'is not a string');
    if (!json.isWellFormed()) throw malformed(context, 'is not well-formed Unicode');
    return json;
  },
};

/** An integer from 0 to 2⁵³ − 1. */
export const count: Codec<number> = {
  encode: (value) => value,
  decode(json, context) {
    if (typeof json !== 'number' || !Number.isSafeInteger(json) || json < 0 || Object.is(json, -0))
      throw malformed(context, 'is not a whole number of 0 or more');
    return json;
  },
};

/** A wire int64 of 0 or more, as a decimal string: JSON numbers end at 2⁵³. */
export const int64: Codec<bigint> = {
  encode: (value) => value.toString(),
  decode(json, context) {
    if (typeof json !== 'string' || !DECIMAL.test(json))
      throw malformed(context, 'is not a decimal string');
    const value = BigInt(json);
    if (value > INT64_MAX) throw malformed(context, 'exceeds an int64');
    return value;
  },
};

export function oneOf<const V extends string | number>(allowed: readonly V[]): Codec<V> {
  return {
    encode: (value) => value,
    decode(json, context) {
      const value = allowed.find((candidate) => candidate === json);
      if (value === undefined) throw malformed(context, `is none of ${allowed.join(', ')}`);
      return value;
    },
  };
}

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    encode: (value) => (value === null ? null : codec.encode(value)),
    decode: (json, context) => (json === null ? null : codec.decode(json, context)),
  };
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    encode: (values) => values.map((value) => codec.encode(value)),
    decode(json, context) {
      if (!Array.isArray(json)) throw malformed(context, 'is not a list');
      return json.map((value: unknown, index) =>
        codec.decode(value, { ...context, at: `${context.at}[${index}]` }),
      );
    },
  };
}

/** Two texts, as a list of two. */
export const textPair: Codec<readonly [string, string]> = {
  encode: (pair) => [...pair],
  decode(json, context) {
    const [first, second, ...rest] = list(text).decode(json, context);
    if (first === undefined || second === undefined || rest.length > 0)
      throw malformed(context, 'is not a pair');
    return [first, second];
  },
};

export type FieldCodecs<T> = { readonly [K in keyof T]-?: Codec<T[K]> };

/** Properties in the order of `fields`, named in snake_case. */
export function record<T extends object>(fields: FieldCodecs<T>): Codec<T> {
  const names = (Object.keys(fields) as (keyof T & string)[]).map((property) => ({
    property,
    name: snakeCase(property),
  }));
  const known = new Set(names.map(({ name }) => name));
  return {
    encode(value) {
      // The names are ours, never data: plain assignment is safe, and fast on the apply path.
      const json: Record<string, Json> = {};
      for (const { property, name } of names) json[name] = fields[property].encode(value[property]);
      return json;
    },
    decode(json, context) {
      const object = objectOf(json, context);
      if (context.unknownKeys === 'refuse') refuseUnknown(object, known, context);
      const entries = names.map(({ property, name }) => {
        const at = `${context.at}.${name}`;
        if (!Object.hasOwn(object, name)) throw malformed({ ...context, at }, 'is missing');
        return [property, fields[property].decode(object[name], { ...context, at })];
      });
      return Object.fromEntries(entries) as T;
    },
  };
}

export function objectOf(json: unknown, context: DecodeContext): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw malformed(context, 'is not an object');
  return json as Record<string, unknown>;
}

export function parseJson(source: string, context: DecodeContext): unknown {
  try {
    return JSON.parse(source);
  } catch (cause) {
    throw malformed(context, 'is not JSON', cause);
  }
}

function refuseUnknown(
  object: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  context: DecodeContext,
): void {
  const stranger = Object.keys(object).find((name) => !known.has(name));
  if (stranger !== undefined)
    throw malformed(context, `has an unknown key ${JSON.stringify(stranger)}`);
}

function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// Seeded fuzzing of every generated decoder: random bytes, mutated golden vectors, and fields
// built from the schema with hostile values. A case is a pure function of seed and index, so one
// failing input replays alone. Judges each input: the decoder may refuse with one of its known
// errors; whatever it accepts must encode, decode again and encode to the same bytes, and no
// prototype may change.

import assert from 'node:assert/strict';
import { createRandom, type Random } from '@bigfleet/base';
import {
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { assemble } from './assemble.ts';
import { framingProblem } from '../../framing.ts';
import { goldenVectors } from './repository.ts';
import { allFiles, messagesOf } from './schemas.ts';
import type { FieldLine, FieldValue } from './vector-syntax.ts';

const MAX_INPUT_BYTES = 4_096;
const MAX_DEPTH = 4;

export interface FuzzCase {
  readonly schema: DescMessage;
  readonly kind: 'random' | 'mutated' | 'structured';
  readonly bytes: Uint8Array;
}

export type Verdict = 'decoded' | 'refused';

const schemas = messagesOf(allFiles);
const byName = new Map(schemas.map((schema) => [schema.typeName, schema]));
const corpus = goldenVectors().map((vector) => ({
  schema: byName.get(vector.message),
  bytes: assemble(vector.lines),
}));

export function fuzzCase(seed: string, index: number): FuzzCase {
  const random = createRandom(seed).stream(String(index));
  const schema = pick(random, schemas);
  switch (random.below(4)) {
    case 0:
      return { schema, kind: 'random', bytes: randomBytes(random, random.below(64)) };
    case 1:
      return { schema, kind: 'structured', bytes: structured(random, schema) };
    default: {
      const golden = pick(random, corpus);
      // Mostly with its own decoder; sometimes with a foreign one.
      const decoder = random.below(8) === 0 ? schema : (golden.schema ?? schema);
      return { schema: decoder, kind: 'mutated', bytes: mutate(random, golden.bytes) };
    }
  }
}

export type Decoder = (schema: DescMessage, bytes: Uint8Array) => MessageShape<DescMessage>;

/** Throws with the input in hex when the decoder misbehaves. */
export function judge({ schema, kind, bytes }: FuzzCase, decode: Decoder = fromBinary): Verdict {
  try {
    return decodeAndReturn(schema, bytes, decode);
  } catch (cause) {
    const input = Buffer.from(bytes).toString('hex');
    throw new Error(`${schema.typeName} (${kind}) failed on ${input}`, { cause });
  }
}

function decodeAndReturn(schema: DescMessage, bytes: Uint8Array, decode: Decoder): Verdict {
  const wellFramed = framingProblem(schema, bytes) === undefined;
  let message: MessageShape<DescMessage>;
  try {
    message = decode(schema, bytes);
  } catch (error) {
    assert.ok(isDecodeError(error), error instanceof Error ? error : String(error));
    // The two must agree: what the structural check accepts fails only on text that is no text.
    if (wellFramed) assert.match(String(error), /utf-8/);
    return 'refused';
  }
  const once = toBinary(schema, message);
  // Frames that only the library accepts may hold groups, and those are sent on as they came.
  if (wellFramed) assert.equal(framingProblem(schema, once), undefined);
  const twice = toBinary(schema, decode(schema, once));
  assert.ok(Buffer.from(once).equals(twice), 'encoding is not stable');
  return 'decoded';
}

/** What the library throws for bad input, exactly; anything else is a crash. */
export function isDecodeError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return true;
  return /^(premature EOF|invalid varint|illegal tag|cant skip wire type|invalid end group tag|maximum recursion depth|Offset is outside the bounds of the DataView)/.test(
    error.message,
  );
}

const prototypes = [Object, Array, Function, String, Number, Map, Uint8Array, BigInt].map(
  (owner) => owner.prototype as object,
);

/** The own names of every prototype that a hostile key could reach. */
export function prototypeNames(): string[][] {
  return prototypes.map((prototype) => Reflect.ownKeys(prototype).map(String));
}

// ---- generators ----

function mutate(random: Random, golden: Uint8Array): Uint8Array {
  let bytes = [...golden];
  for (let round = 1 + random.below(4); round > 0; round--) {
    const at = random.below(bytes.length + 1);
    const length = random.below(8);
    switch (random.below(7)) {
      case 0: // flip one bit
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1: // replace one byte by an awkward one
        if (at < bytes.length) bytes[at] = pick(random, [0x00, 0x7f, 0x80, 0xff, 0x0b, 0x0c]);
        break;
      case 2: // cut the end
        bytes = bytes.slice(0, at);
        break;
      case 3: // insert
        bytes.splice(at, 0, ...randomBytes(random, length));
        break;
      case 4: // remove
        bytes.splice(at, length);
        break;
      case 5: // repeat a part
        bytes.splice(at, 0, ...bytes.slice(at, at + length * 4));
        break;
      default: // splice another vector in
        bytes.splice(at, 0, ...pick(random, corpus).bytes.slice(0, 256));
    }
  }
  return Uint8Array.from(bytes.slice(0, MAX_INPUT_BYTES));
}

function structured(random: Random, schema: DescMessage, depth = 0): Uint8Array {
  const lines: FieldLine[] = [];
  for (let count = random.below(6); count > 0; count--) {
    const known = schema.fields.length > 0 && random.below(8) !== 0;
    const field = known ? pick(random, schema.fields) : undefined;
    const number = field?.number ?? 1 + random.below(0x1fff_ffff);
    // Now and then a value that does not fit the field.
    const fits = field !== undefined && random.below(12) !== 0;
    const value = fits ? fittingValue(random, field, depth) : anyValue(random);
    lines.push({ number, name: '', label: '', type: '', value });
  }
  return assemble(lines);
}

function fittingValue(random: Random, field: DescField, depth: number): FieldValue {
  if (field.fieldKind === 'map') {
    const value: FieldValue =
      field.scalar === ScalarType.STRING
        ? { kind: 'string', text: pick(random, hostileTexts) }
        : { kind: 'int32', int: BigInt(random.uint32() | 0) };
    return { kind: 'entry', key: pick(random, hostileTexts), value };
  }
  if (field.message !== undefined) {
    const bytes =
      depth < MAX_DEPTH ? structured(random, field.message, depth + 1) : new Uint8Array();
    return { kind: 'bytes', bytes };
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      return { kind: 'string', text: pick(random, hostileTexts) };
    case ScalarType.BYTES:
      return { kind: 'bytes', bytes: randomBytes(random, random.below(24)) };
    case ScalarType.DOUBLE:
      return { kind: 'double', double: pick(random, [Number.NaN, -0, Infinity, 1e308, 0.1]) };
    default:
      return { kind: 'uint64', int: (BigInt(random.uint32()) << 32n) | BigInt(random.uint32()) };
  }
}

const hostileTexts = ['__proto__', 'constructor', 'prototype', 'toString', '', '\u0000', '😀', '7'];

function anyValue(random: Random): FieldValue {
  switch (random.below(6)) {
    case 0:
      return { kind: 'string', text: pick(random, hostileTexts) };
    case 1:
      return { kind: 'bytes', bytes: randomBytes(random, random.below(24)) };
    case 2:
      return { kind: 'uint64', int: (BigInt(random.uint32()) << 32n) | BigInt(random.uint32()) };
    case 3:
      return { kind: 'int32', int: BigInt(random.below(5)) - 2n };
    case 4:
      return { kind: 'double', double: pick(random, [Number.NaN, -0, Infinity, 1e308, 0.1]) };
    default:
      return {
        kind: 'packed',
        items: Array.from({ length: random.below(5) }, () => ({
          kind: 'uint64',
          int: BigInt(random.uint32()),
        })),
      };
  }
}

function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.uint32() >>> 24);
}

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  assert.ok(item !== undefined);
  return item;
}

// A structural check of encoded messages, stricter than the library's decoder. The library lets a
// nested message, map entry or packed list run past its own length into what follows, and reads a
// known field by its declared type whatever wire type the sender wrote. A corrupt frame can thus
// decode into a different, plausible message, where peers in other languages refuse it. This walk
// refuses it first. It checks lengths, wire types and tags only; strings, ranges and meaning are
// the decoder's. Allocates nothing per field; one pass over the bytes, leaves are not read.

import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';

interface Shape {
  readonly name: string;
  readonly fields: Map<number, FieldShape>;
  /** Of a map: the library does not skip what it does not know there, and reads on inside it. */
  readonly isMapEntry: boolean;
}

interface FieldShape {
  readonly wireType: number;
  /** The element's wire type, where the list may also come packed. */
  readonly packedWireType: number | undefined;
  readonly child: Shape | undefined;
}

const VARINT = 0;
const FIXED64 = 1;
const LEN = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
/** A tag has 32 bits; longer spellings of a small one are refused by every decoder. */
const MAX_TAG_BYTES = 5;

/** Undefined when the framing is exact, otherwise what is wrong and at which byte. */
export function framingProblem(schema: DescMessage, bytes: Uint8Array): string | undefined {
  const walk = new Walk(bytes);
  walk.message(shapeOf(schema), bytes.length);
  return walk.problem;
}

class Walk {
  readonly #bytes: Uint8Array;
  #at = 0;
  problem: string | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  message(shape: Shape, end: number): void {
    while (this.problem === undefined && this.#at < end) {
      const start = this.#at;
      const tag = this.#varint(end);
      const number = Math.floor(tag / 8);
      const wireType = tag % 8;
      if (this.problem !== undefined) return;
      // Above 2^29 - 1 no field number is legal.
      const isOverlong = this.#at - start > MAX_TAG_BYTES;
      if (isOverlong || number < 1 || number > 0x1fff_ffff) {
        return this.#fail(shape, start, 'illegal tag');
      }
      const field = shape.fields.get(number);
      if (field !== undefined && !accepts(field, wireType)) {
        return this.#fail(shape, start, `field ${number} has wire type ${wireType}`);
      }
      if (field === undefined && shape.isMapEntry) {
        return this.#fail(shape, start, `field ${number} in a map entry`);
      }
      this.#value(shape, field, wireType, end);
    }
  }

  #value(shape: Shape, field: FieldShape | undefined, wireType: number, end: number): void {
    if (wireType !== LEN) {
      if (!this.#scalar(wireType, end))
        this.#fail(shape, this.#at, `wire type ${wireType} or its end`);
      return;
    }
    const length = this.#varint(end);
    const valueEnd = this.#at + length;
    if (this.problem !== undefined) return;
    if (valueEnd > end) return this.#fail(shape, this.#at, 'length beyond the enclosing message');
    if (field?.child !== undefined) {
      this.message(field.child, valueEnd);
    } else if (field?.packedWireType !== undefined) {
      while (this.#at < valueEnd) {
        if (this.#scalar(field.packedWireType, valueEnd)) continue;
        return this.#fail(shape, this.#at, 'packed element beyond its list');
      }
    } else {
      this.#at = valueEnd;
    }
  }

  /** Skips one value; false when it does not end in time or has no such type. Groups have none. */
  #scalar(wireType: number, end: number): boolean {
    if (wireType === VARINT) this.#varint(end);
    else if (wireType === FIXED64) this.#at += 8;
    else if (wireType === FIXED32) this.#at += 4;
    else return false;
    return this.problem === undefined && this.#at <= end;
  }

  #varint(end: number): number {
    let value = 0;
    let scale = 1;
    const limit = Math.min(end, this.#at + MAX_VARINT_BYTES);
    while (this.#at < limit) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    this.problem ??= `byte ${this.#at}: varint without end`;
    return 0;
  }

  #fail(shape: Shape, at: number, reason: string): void {
    this.problem ??= `byte ${at}, in ${shape.name}: ${reason}`;
  }
}

function accepts(field: FieldShape, wireType: number): boolean {
  return wireType === field.wireType || (wireType === LEN && field.packedWireType !== undefined);
}

const shapes = new WeakMap<DescMessage, Shape>();

function shapeOf(schema: DescMessage): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape: Shape = { name: schema.typeName, fields: new Map(), isMapEntry: false };
  // Before the fields, so that a message that contains itself ends here.
  shapes.set(schema, shape);
  for (const field of schema.fields) shape.fields.set(field.number, fieldShape(field));
  return shape;
}

function fieldShape(field: DescField): FieldShape {
  if (field.fieldKind === 'map') {
    const value: FieldShape = {
      wireType: wireTypeOf(field.scalar, field.enum !== undefined),
      packedWireType: undefined,
      child: field.message === undefined ? undefined : shapeOf(field.message),
    };
    const key: FieldShape = {
      wireType: wireTypeOf(field.mapKey, false),
      packedWireType: undefined,
      child: undefined,
    };
    const entry: Shape = {
      name: `${field.parent.typeName}.${field.name}`,
      isMapEntry: true,
      fields: new Map([
        [1, key],
        [2, value],
      ]),
    };
    return { wireType: LEN, packedWireType: undefined, child: entry };
  }
  const wireType = wireTypeOf(field.scalar, field.enum !== undefined);
  const packable = field.fieldKind === 'list' && wireType !== LEN;
  return {
    wireType,
    packedWireType: packable ? wireType : undefined,
    child: field.message === undefined ? undefined : shapeOf(field.message),
  };
}

function wireTypeOf(scalar: ScalarType | undefined, isEnum: boolean): number {
  switch (scalar) {
    case undefined:
      return isEnum ? VARINT : LEN;
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return LEN;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return FIXED64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return FIXED32;
    default:
      return VARINT;
  }
}

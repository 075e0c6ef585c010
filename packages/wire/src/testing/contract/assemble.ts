// The independent protobuf assembler: field lines in, bytes out, written from the public encoding
// rules alone. It must never import a protobuf library or the generated code: golden bytes that
// our own encoder made would agree with its errors.

import type { FieldLine, FieldValue } from './vector-syntax.ts';

const VARINT = 0;
const FIXED64 = 1;
const LEN = 2;

/** Fields in the order given; absent lines (no number) contribute nothing. */
export function assemble(lines: readonly FieldLine[]): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  for (const line of lines) {
    if (line.number !== undefined) writeField(out, line.number, line.value);
  }
  return Uint8Array.from(out);
}

function writeField(out: number[], number: number, value: FieldValue): void {
  const wireType = wireTypeOf(value);
  writeVarint(out, (BigInt(number) << 3n) | BigInt(wireType));
  const payload = payloadOf(value);
  if (wireType === LEN) writeVarint(out, BigInt(payload.length));
  // One by one: spreading a large payload into push() overflows the stack.
  for (const byte of payload) out.push(byte);
}

function wireTypeOf(value: FieldValue): number {
  switch (value.kind) {
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
    case 'bool':
    case 'enum':
      return VARINT;
    case 'double':
      return FIXED64;
    case 'string':
    case 'bytes':
    case 'message':
    case 'packed':
    case 'entry':
      return LEN;
  }
}

/** The bytes after the tag, without the length prefix. */
function payloadOf(value: FieldValue): Iterable<number> & { readonly length: number } {
  const out: number[] = [];
  switch (value.kind) {
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      writeVarint(out, value.int);
      return out;
    case 'bool':
      return [value.bool ? 1 : 0];
    case 'enum':
      writeVarint(out, BigInt(value.number));
      return out;
    case 'double': {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, value.double, true);
      return bytes;
    }
    case 'string':
      return new TextEncoder().encode(value.text);
    case 'bytes':
      return value.bytes;
    case 'message':
      return assemble(value.lines);
    case 'packed':
      for (const item of value.items) for (const byte of payloadOf(item)) out.push(byte);
      return out;
    case 'entry':
      // A map is a repeated message of key (1) and value (2), both always written.
      writeField(out, 1, { kind: 'string', text: value.key });
      writeField(out, 2, value.value);
      return out;
  }
}

/** Negative numbers are 64-bit two's complement: ten bytes, for int32 too. */
function writeVarint(out: number[], value: bigint): void {
  let rest = BigInt.asUintN(64, value);
  while (rest > 0x7fn) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
}

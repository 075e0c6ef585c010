// The file of raw duration samples (`--trace-samples`): blocks, appended and never changed.
//
//   block   = u32 magic 'BFST' | u32 CRC-32 of all that follows | u32 kind | u32 payload bytes | payload
//   kind 1  session: JSON {"version":1,"unixNanos":"…","monotonicMs":…}; a process began to write
//   kind 2  series:  JSON {"id":…,"name":"…"}; ids are of this session
//   kind 3  samples: n × f64 start ms (monotonic), n × f64 seconds, n × u32 series id
//   kind 4  dropped: JSON {"count":…}; samples of this session that were not written, so far
//
// All little-endian. Columns instead of records, so that writing is a memory copy. A torn block (the
// process died, the disk filled up) costs that block: the reader looks for the next magic.

import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { assert } from '@bigfleet/base';

export const FORMAT_VERSION = 1;
const HEADER_BYTES = 16;
const SAMPLE_BYTES = 20;
/** Far above what one flush writes. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

const CRC_AT = 4;
const KIND_AT = 8;
const LENGTH_AT = 12;
const MAGIC = Buffer.from('BFST', 'latin1');

export type BlockKind = 'session' | 'series' | 'samples' | 'dropped';

const KIND_CODES: Readonly<Record<BlockKind, number>> = {
  session: 1,
  series: 2,
  samples: 3,
  dropped: 4,
};

const KINDS: ReadonlyMap<number, BlockKind> = new Map(
  Object.entries(KIND_CODES).map(([kind, code]) => [code, kind as BlockKind]),
);

export interface SampleColumns {
  readonly startMs: Float64Array;
  readonly seconds: Float64Array;
  readonly seriesIds: Uint32Array;
  readonly count: number;
}

export interface Block {
  readonly kind: BlockKind;
  readonly payload: Buffer;
}

export function encodeJson(kind: Exclude<BlockKind, 'samples'>, value: object): Buffer {
  return encodeBlock(kind, [Buffer.from(JSON.stringify(value), 'utf8')]);
}

export function encodeSamples(columns: SampleColumns): Buffer {
  const { startMs, seconds, seriesIds, count } = columns;
  return encodeBlock('samples', [
    bytesOf(startMs, count),
    bytesOf(seconds, count),
    bytesOf(seriesIds, count),
  ]);
}

export function decodeSamples(payload: Buffer): SampleColumns {
  const count = Math.floor(payload.length / SAMPLE_BYTES);
  assert(count * SAMPLE_BYTES === payload.length, 'a samples block holds whole samples');
  // A copy, because a Float64Array must start at a multiple of eight.
  const bytes = new Uint8Array(payload).buffer;
  return {
    startMs: new Float64Array(bytes, 0, count),
    seconds: new Float64Array(bytes, count * 8, count),
    seriesIds: new Uint32Array(bytes, count * 16, count),
    count,
  };
}

export interface BlockAt {
  readonly block: Block;
  readonly end: number;
}

/**
 * The block that starts at `offset`; undefined for damage. Whole samples and a matching checksum are
 * part of being a block.
 */
export function blockAt(bytes: Buffer, offset: number): BlockAt | undefined {
  if (offset + HEADER_BYTES > bytes.length) return undefined;
  const kind = KINDS.get(bytes.readUInt32LE(offset + KIND_AT));
  const payloadBytes = bytes.readUInt32LE(offset + LENGTH_AT);
  if (!isMagic(bytes, offset) || kind === undefined) return undefined;
  if (kind === 'samples' && payloadBytes % SAMPLE_BYTES !== 0) return undefined;
  const end = offset + HEADER_BYTES + payloadBytes;
  if (end > bytes.length) return undefined;
  const checked = bytes.subarray(offset + KIND_AT, end);
  if (crc32(checked) !== bytes.readUInt32LE(offset + CRC_AT)) return undefined;
  const payload = bytes.subarray(offset + HEADER_BYTES, end);
  return { block: { kind, payload }, end };
}

/** Where the next block may start after damage at `offset`; else the end. */
export function nextMagic(bytes: Buffer, offset: number): number {
  const at = bytes.indexOf(MAGIC, offset + 1);
  return at < 0 ? bytes.length : at;
}

function isMagic(bytes: Buffer, offset: number): boolean {
  return bytes.compare(MAGIC, 0, MAGIC.length, offset, offset + MAGIC.length) === 0;
}

function encodeBlock(kind: BlockKind, payload: readonly Buffer[]): Buffer {
  assert(endianness() === 'LE', 'sample files are written as the processor stores numbers');
  const payloadBytes = payload.reduce((sum, part) => sum + part.length, 0);
  assert(payloadBytes <= MAX_PAYLOAD_BYTES, 'block too large', { payloadBytes });
  const block = Buffer.concat([Buffer.alloc(HEADER_BYTES), ...payload]);
  MAGIC.copy(block, 0);
  block.writeUInt32LE(KIND_CODES[kind], KIND_AT);
  block.writeUInt32LE(payloadBytes, LENGTH_AT);
  block.writeUInt32LE(crc32(block.subarray(KIND_AT)), CRC_AT);
  return block;
}

function bytesOf(column: Float64Array | Uint32Array, count: number): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, count * column.BYTES_PER_ELEMENT);
}

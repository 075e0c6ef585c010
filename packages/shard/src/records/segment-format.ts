// A segment: a header and frames, appended and never rewritten. A frame is one decision record with
// where it belongs; each has a checksum, so that a torn tail or a flipped bit ends the reading of
// its segment and nothing else. Diagnostics, not state: segments are written without fsync and may
// be deleted at any time.
//
//   header  magic (8) · version (u16) · zero (u16) · shard epoch (i64)
//   frame   payload length (u32) · checksum (u32) · cycle (i64) · unix nanos (i64)
//           · action hash (16) · payload
//
// Little-endian. The checksum covers everything behind it.

import { crc32 } from 'node:zlib';
import { assert } from '@bigfleet/base';

const MAGIC = Buffer.from('BFRECS1\n', 'latin1');
const VERSION = 2;
export const HEADER_BYTES = 20;
export const FRAME_HEAD_BYTES = 40;
const HASH_AT = 24;
const HASH_BYTES = 16;
const CHECKED_FROM = 8;
/** No record is larger; a length beyond it is damage. */
const MAX_PAYLOAD_BYTES: number = 1 << 28;

export interface StoredRecord {
  readonly epoch: bigint;
  readonly cycle: bigint;
  readonly atUnixNanos: bigint;
  /** Of what the cycle decided, 16 bytes. */
  readonly actionHash: Uint8Array;
  /** The engine's own encoding. */
  readonly payload: Uint8Array;
}

export function segmentHeader(epoch: bigint): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(VERSION, 8);
  header.writeBigInt64LE(epoch, 12);
  return header;
}

/** Undefined when this is no segment of ours. */
function epochOfHeader(bytes: Uint8Array): bigint | undefined {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (header.length < HEADER_BYTES || !header.subarray(0, 8).equals(MAGIC)) return undefined;
  return header.readUInt16LE(8) === VERSION ? header.readBigInt64LE(12) : undefined;
}

export function encodeFrame({
  cycle,
  atUnixNanos,
  actionHash,
  payload,
}: Omit<StoredRecord, 'epoch'>): Uint8Array {
  assert(actionHash.length === HASH_BYTES, 'an action hash has 16 bytes');
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeBigInt64LE(cycle, 8);
  frame.writeBigInt64LE(atUnixNanos, 16);
  frame.set(actionHash, HASH_AT);
  frame.set(payload, FRAME_HEAD_BYTES);
  frame.writeUInt32LE(crc32(frame.subarray(CHECKED_FROM)), 4);
  return frame;
}

export interface SegmentContent {
  readonly records: readonly StoredRecord[];
  /** Bytes behind the last whole frame: torn or damaged, not read. */
  readonly unreadBytes: number;
}

/** Every whole frame from the start on, at once. */
export function decodeSegment(bytes: Uint8Array): SegmentContent {
  const records: StoredRecord[] = [];
  const frames = segmentFrames(bytes);
  let step = frames.next();
  for (; step.done !== true; step = frames.next()) records.push(step.value);
  return { records, unreadBytes: step.value };
}

/** Every whole frame from the start on, checked as it is taken; ends with the bytes not read. */
export function* segmentFrames(bytes: Uint8Array): Generator<StoredRecord, number> {
  const epoch = epochOfHeader(bytes);
  if (epoch === undefined) return bytes.length;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = HEADER_BYTES;
  for (;;) {
    const end = frameEnd(content, at);
    if (end === undefined) return content.length - at;
    yield {
      epoch,
      cycle: content.readBigInt64LE(at + 8),
      atUnixNanos: content.readBigInt64LE(at + 16),
      actionHash: content.subarray(at + HASH_AT, at + HASH_AT + HASH_BYTES),
      payload: content.subarray(at + FRAME_HEAD_BYTES, end),
    };
    at = end;
  }
}

/** The cycle of a segment's first frame, from its first bytes; unchecked, for an overview. */
export function firstCycleOf(head: Uint8Array): bigint | undefined {
  if (epochOfHeader(head) === undefined || head.length < HEADER_BYTES + 16) return undefined;
  const content = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  return content.readBigInt64LE(HEADER_BYTES + 8);
}

function frameEnd(content: Buffer, at: number): number | undefined {
  if (content.length - at < FRAME_HEAD_BYTES) return undefined;
  const length = content.readUInt32LE(at);
  const end = at + FRAME_HEAD_BYTES + length;
  if (length > MAX_PAYLOAD_BYTES || end > content.length) return undefined;
  const isWhole = crc32(content.subarray(at + CHECKED_FROM, end)) === content.readUInt32LE(at + 4);
  return isWhole ? end : undefined;
}

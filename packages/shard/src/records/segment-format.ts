// A segment: a header and frames, appended and never rewritten. A frame is a decision record, or the
// dispositions of the one that follows it, with where it belongs; each has a checksum, so that a torn
// tail or a flipped bit ends the reading of its segment and nothing else. Diagnostics, not state:
// segments are written without fsync and may be deleted at any time.
//
//   header  magic (8) · version (u16) · zero (u16) · shard epoch (i64)
//   frame   payload length (u32) · checksum (u32) · kind (u32) · cycle (i64) · unix nanos (i64)
//           · action hash (16) · payload
//
// Little-endian. The checksum covers everything behind it. Version 2 had no kinds: every frame was a
// record. A kind that this build does not know is passed over and counted. Dispositions come first,
// so that a reader of a record has all of it.

import { crc32 } from 'node:zlib';
import { assert } from '@bigfleet/base';

const MAGIC = Buffer.from('BFRECS1\n', 'latin1');
const VERSION = 3;
/** Segments of earlier builds stay readable; its frames have no kind. */
const WITHOUT_KINDS = 2;
export const HEADER_BYTES = 20;
export const FRAME_HEAD_BYTES = 44;
const HASH_BYTES = 16;
const CHECKED_FROM = 8;
const KIND_BYTES = 4;
const RECORD_KIND = 1;
const DISPOSITIONS_KIND = 2;
/** No record is larger; a length beyond it is damage. */
const MAX_PAYLOAD_BYTES: number = 1 << 28;
const NONE = new Uint8Array(0);

export interface StoredRecord {
  readonly epoch: bigint;
  readonly cycle: bigint;
  readonly atUnixNanos: bigint;
  /** Of what the cycle decided, 16 bytes. */
  readonly actionHash: Uint8Array;
  /** The engine's own encoding. */
  readonly payload: Uint8Array;
  /** What became of its actions, in the engine's encoding; empty when nothing is said. */
  readonly dispositions: Uint8Array;
}

export function segmentHeader(epoch: bigint): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(VERSION, 8);
  header.writeBigInt64LE(epoch, 12);
  return header;
}

interface SegmentHead {
  readonly epoch: bigint;
  readonly hasKinds: boolean;
}

/** Undefined when this is no segment that this build can read. */
function readHead(bytes: Uint8Array): SegmentHead | undefined {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (header.length < HEADER_BYTES || !header.subarray(0, 8).equals(MAGIC)) return undefined;
  const version = header.readUInt16LE(8);
  if (version !== VERSION && version !== WITHOUT_KINDS) return undefined;
  return { epoch: header.readBigInt64LE(12), hasKinds: version === VERSION };
}

/** A record behind its dispositions, to be written at once: one segment has both. */
export function encodeFrames(record: Omit<StoredRecord, 'epoch'>): Uint8Array {
  const { dispositions, payload } = record;
  const frame = encodeFrame(record, RECORD_KIND, payload);
  if (dispositions.length === 0) return frame;
  return Buffer.concat([encodeFrame(record, DISPOSITIONS_KIND, dispositions), frame]);
}

type Place = Pick<StoredRecord, 'cycle' | 'atUnixNanos' | 'actionHash'>;

export function encodeFrame(
  { cycle, atUnixNanos, actionHash }: Place,
  kind: number,
  payload: Uint8Array,
): Uint8Array {
  assert(actionHash.length === HASH_BYTES, 'an action hash has 16 bytes');
  const frame = Buffer.alloc(FRAME_HEAD_BYTES + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame.writeUInt32LE(kind, CHECKED_FROM);
  frame.writeBigInt64LE(cycle, 12);
  frame.writeBigInt64LE(atUnixNanos, 20);
  frame.set(actionHash, 28);
  frame.set(payload, FRAME_HEAD_BYTES);
  frame.writeUInt32LE(crc32(frame.subarray(CHECKED_FROM)), 4);
  return frame;
}

/** What of a segment was not read. */
export interface SegmentRest {
  /** Bytes behind the last whole frame: torn or damaged. */
  readonly unreadBytes: number;
  /** Whole frames of a kind that this build does not know. */
  readonly unknownFrameCount: number;
}

export interface SegmentContent extends SegmentRest {
  readonly records: readonly StoredRecord[];
}

/** Every whole frame from the start on, at once. */
export function decodeSegment(bytes: Uint8Array): SegmentContent {
  const records: StoredRecord[] = [];
  const frames = segmentRecords(bytes);
  let step = frames.next();
  for (; step.done !== true; step = frames.next()) records.push(step.value);
  return { records, ...step.value };
}

/** Every whole record from the start on, checked as it is taken; ends with what was not read. */
export function* segmentRecords(bytes: Uint8Array): Generator<StoredRecord, SegmentRest> {
  const head = readHead(bytes);
  if (head === undefined) return { unreadBytes: bytes.length, unknownFrameCount: 0 };
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = HEADER_BYTES;
  let unknownFrameCount = 0;
  let dispositions: Frame | undefined;
  for (;;) {
    const frame = readFrame(content, at, head);
    if (frame === undefined) return { unreadBytes: content.length - at, unknownFrameCount };
    at = frame.end;
    if (frame.kind === RECORD_KIND) {
      yield storedRecord(head, frame, dispositions);
      dispositions = undefined;
    } else if (frame.kind === DISPOSITIONS_KIND) dispositions = frame;
    else unknownFrameCount += 1;
  }
}

interface Frame extends Place {
  readonly kind: number;
  readonly payload: Uint8Array;
  readonly end: number;
}

function storedRecord(
  { epoch }: SegmentHead,
  { cycle, atUnixNanos, actionHash, payload }: Frame,
  before: Frame | undefined,
): StoredRecord {
  const dispositions = before?.cycle === cycle ? before.payload : NONE;
  return { epoch, cycle, atUnixNanos, actionHash, payload, dispositions };
}

/** The cycle of a segment's first frame, from its first bytes; unchecked, for an overview. */
export function firstCycleOf(bytes: Uint8Array): bigint | undefined {
  const head = readHead(bytes);
  if (head === undefined) return undefined;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = HEADER_BYTES + CHECKED_FROM + kindBytes(head);
  return content.length < at + 8 ? undefined : content.readBigInt64LE(at);
}

function kindBytes({ hasKinds }: SegmentHead): number {
  return hasKinds ? KIND_BYTES : 0;
}

/** Undefined when it is not whole. */
function readFrame(content: Buffer, at: number, head: SegmentHead): Frame | undefined {
  const placeAt = at + CHECKED_FROM + kindBytes(head);
  const payloadAt = placeAt + 16 + HASH_BYTES;
  if (payloadAt > content.length) return undefined;
  const length = content.readUInt32LE(at);
  const end = payloadAt + length;
  if (length > MAX_PAYLOAD_BYTES || end > content.length) return undefined;
  const checked = content.subarray(at + CHECKED_FROM, end);
  if (crc32(checked) !== content.readUInt32LE(at + 4)) return undefined;
  return {
    kind: head.hasKinds ? content.readUInt32LE(at + CHECKED_FROM) : RECORD_KIND,
    cycle: content.readBigInt64LE(placeAt),
    atUnixNanos: content.readBigInt64LE(placeAt + 8),
    actionHash: content.subarray(placeAt + 16, payloadAt),
    payload: content.subarray(payloadAt, end),
    end,
  };
}

// The bytes around what the journal holds. A file starts with a header that names its generation;
// then frames follow, one per group commit, each fsynced before the next is written. All checksums
// include the generation, so blocks of a deleted journal that a crash brings back are no frames.
//
//   file header, 20 bytes: magic 8 | generation u64 | crc32 of both
//   frame, 20 bytes + payload: magic 4 | index u32 | payload length u32 | payload crc32 | crc32 of
//   the generation and the 16 bytes before
//
// Both magics start with 0xff, a byte that no UTF-8 text holds: a payload, whatever a caller put
// into its strings, can't look like a frame.

import { crc32 } from 'node:zlib';
import { assert } from '@bigfleet/base';

export const FILE_HEADER_BYTES = 20;
export const FRAME_HEADER_BYTES = 20;
export const FRAME_MAGIC: Uint8Array = Buffer.from([0xff, 0x42, 0x46, 0x46]);

const FILE_MAGIC = Buffer.from([0xff, 0x42, 0x46, 0x4a, 0x52, 0x4e, 0x4c, 0x01]);
const MAX_PAYLOAD_BYTES = 0xffff_ffff;

export interface FrameHeader {
  readonly index: number;
  readonly payloadBytes: number;
  readonly payloadCrc: number;
}

export function encodeFileHeader(generation: number): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  FILE_MAGIC.copy(header);
  header.writeBigUInt64BE(BigInt(generation), 8);
  header.writeUInt32BE(crc32(header.subarray(0, 16)), 16);
  return header;
}

/** The generation, or undefined when these are not the bytes of a header. */
export function decodeFileHeader(bytes: Buffer): number | undefined {
  if (bytes.length < FILE_HEADER_BYTES) return undefined;
  if (!bytes.subarray(0, FILE_MAGIC.length).equals(FILE_MAGIC)) return undefined;
  if (bytes.readUInt32BE(16) !== crc32(bytes.subarray(0, 16))) return undefined;
  return Number(bytes.readBigUInt64BE(8));
}

export interface FrameInput {
  readonly generation: number;
  readonly index: number;
  readonly payload: readonly Buffer[];
}

export function encodeFrameHeader({ generation, index, payload }: FrameInput): Buffer {
  let payloadBytes = 0;
  let payloadCrc = 0;
  for (const part of payload) {
    payloadBytes += part.length;
    payloadCrc = crc32(part, payloadCrc);
  }
  assert(payloadBytes <= MAX_PAYLOAD_BYTES, 'a frame holds less than 4 GiB', { payloadBytes });
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.set(FRAME_MAGIC);
  header.writeUInt32BE(index, 4);
  header.writeUInt32BE(payloadBytes, 8);
  header.writeUInt32BE(payloadCrc, 12);
  header.writeUInt32BE(headerCrc(header, generation), 16);
  return header;
}

/** The header at `offset`, or undefined when none is there. */
export function decodeFrameHeader(
  bytes: Buffer,
  offset: number,
  generation: number,
): FrameHeader | undefined {
  const header = bytes.subarray(offset, offset + FRAME_HEADER_BYTES);
  if (header.length < FRAME_HEADER_BYTES) return undefined;
  if (!header.subarray(0, FRAME_MAGIC.length).equals(FRAME_MAGIC)) return undefined;
  if (header.readUInt32BE(16) !== headerCrc(header, generation)) return undefined;
  return {
    index: header.readUInt32BE(4),
    payloadBytes: header.readUInt32BE(8),
    payloadCrc: header.readUInt32BE(12),
  };
}

function headerCrc(header: Buffer, generation: number): number {
  return crc32(header.subarray(0, 16), crc32(`generation ${generation}`));
}

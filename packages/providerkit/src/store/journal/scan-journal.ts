// Tells a torn tail from damage. A frame is fsynced before the next one is begun, so only the last
// may be incomplete: a crash cut it, nobody was told that it is durable, and it is ignored. If
// anything of a later frame exists behind a broken one, the broken one had been acknowledged.
// What can't be told: damage inside the very last frame looks like a cut and is taken for one.

import { crc32 } from 'node:zlib';
import {
  decodeFileHeader,
  decodeFrameHeader,
  FILE_HEADER_BYTES,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
} from './frame.ts';

export type JournalScan =
  | {
      readonly kind: 'readable';
      /** In order; views into the bytes that were scanned. */
      readonly payloads: readonly Buffer[];
      /** Where the next frame belongs; 0 when even the file header is incomplete. */
      readonly goodBytes: number;
      /** Bytes of a cut frame or header follow the good ones. */
      readonly torn: boolean;
    }
  | { readonly kind: 'damaged'; readonly problem: string };

export function scanJournal(bytes: Buffer, generation: number): JournalScan {
  const named = decodeFileHeader(bytes);
  if (named === undefined) {
    // The header is fsynced before the first frame, so a file longer than it has a whole one.
    if (bytes.length > FILE_HEADER_BYTES) return damaged('its file header is broken');
    return { kind: 'readable', payloads: [], goodBytes: 0, torn: bytes.length > 0 };
  }
  if (named !== generation) return damaged(`it holds generation ${named}, not ${generation}`);
  return scanFrames(bytes, generation);
}

function scanFrames(bytes: Buffer, generation: number): JournalScan {
  const payloads: Buffer[] = [];
  let at = FILE_HEADER_BYTES;
  while (at < bytes.length) {
    const payload = wholeFrame(bytes, at, generation, payloads.length);
    if (payload === undefined) {
      const later = laterFrame(bytes, at + 1, generation);
      if (later === undefined) return { kind: 'readable', payloads, goodBytes: at, torn: true };
      return damaged(
        `frame ${payloads.length} at byte ${at} is broken, but a later one follows at ${later}`,
      );
    }
    payloads.push(payload);
    at += FRAME_HEADER_BYTES + payload.length;
  }
  return { kind: 'readable', payloads, goodBytes: at, torn: false };
}

function wholeFrame(
  bytes: Buffer,
  at: number,
  generation: number,
  index: number,
): Buffer | undefined {
  const header = decodeFrameHeader(bytes, at, generation);
  if (header === undefined || header.index !== index) return undefined;
  const start = at + FRAME_HEADER_BYTES;
  const payload = bytes.subarray(start, start + header.payloadBytes);
  const isWhole = payload.length === header.payloadBytes && crc32(payload) === header.payloadCrc;
  return isWhole ? payload : undefined;
}

/** Its header is proof enough: it was written after the frame before it was durable. */
function laterFrame(bytes: Buffer, from: number, generation: number): number | undefined {
  let at = bytes.indexOf(FRAME_MAGIC, from);
  while (at >= 0) {
    if (decodeFrameHeader(bytes, at, generation) !== undefined) return at;
    at = bytes.indexOf(FRAME_MAGIC, at + 1);
  }
  return undefined;
}

function damaged(problem: string): JournalScan {
  return { kind: 'damaged', problem };
}

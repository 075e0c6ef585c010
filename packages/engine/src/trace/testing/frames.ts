// Takes a trace apart into its frames and seals any payloads as a trace again: for tests of what
// a checksum cannot catch.

import { crc32c } from '../crc32c.ts';
import { FRAME_HEAD_BYTES, FRAME_TAIL_BYTES, HEADER_BYTES } from '../format.ts';
import { TraceWriter } from '../trace-writer.ts';

/** Where each frame begins, and where the last one ends. */
export function frameOffsets(trace: Uint8Array): number[] {
  const view = new DataView(trace.buffer, trace.byteOffset, trace.byteLength);
  const offsets = [HEADER_BYTES];
  let at = HEADER_BYTES;
  while (at < trace.length) {
    at += FRAME_HEAD_BYTES + view.getUint32(at, true) + FRAME_TAIL_BYTES;
    offsets.push(at);
  }
  return offsets;
}

export function payloads(trace: Uint8Array): Uint8Array[] {
  const offsets = frameOffsets(trace);
  return offsets
    .slice(0, -1)
    .map((start, at) => trace.slice(start + FRAME_HEAD_BYTES, offsets[at + 1]! - FRAME_TAIL_BYTES));
}

export function sealed(frames: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  new TraceWriter((header) => parts.push(header));
  let chain = crc32c((parts[0] as Uint8Array).subarray(0, HEADER_BYTES - 4));
  for (const payload of frames) {
    const head = uint32(payload.length);
    const check = crc32c(head, chain);
    chain = crc32c(payload, check);
    parts.push(head, uint32(check), payload, uint32(chain));
  }
  return concat(parts);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

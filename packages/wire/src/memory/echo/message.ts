// The echo system's messages: which call, which place in its stream, and filler of a seeded
// length. Enough to notice a message that is missing, repeated, out of order or someone else's.

import type { Random } from '@bigfleet/base';

const HEADER_BYTES = 8;

export interface Header {
  readonly call: number;
  readonly sequence: number;
}

export function writeMessage(header: Header, fillerBytes: number): Uint8Array {
  const message = new Uint8Array(HEADER_BYTES + fillerBytes);
  const view = new DataView(message.buffer);
  view.setUint32(0, header.call);
  view.setUint32(4, header.sequence);
  message.fill(header.sequence & 0xff, HEADER_BYTES);
  return message;
}

export function readHeader(message: Uint8Array): Header {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  return { call: view.getUint32(0), sequence: view.getUint32(4) };
}

/** Mostly small, now and then large. */
export function fillerBytes(random: Random, largest: number): number {
  return random.below(8) === 0 ? random.below(largest) : random.below(32);
}

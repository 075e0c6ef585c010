// The bytes of a List out of the bytes of its machines, which are kept between changes: listing a
// large fleet costs a copy, not an encoding.

import { encodeInit, MachineListSchema } from '@bigfleet/wire';
import type { FakeListAnswer } from './fake-provider.ts';

/** Tag and wire type of `MachineList.machines`. */
const MACHINES_TAG = 0x0a;
const MAX_LENGTH_BYTES = 5;

export function encodeList({ machines, revision }: FakeListAnswer): Uint8Array {
  const tail = encodeInit(MachineListSchema, { revision });
  const encoded = machines.map((machine) => machine.encoded());
  const room = encoded.reduce(
    (sum, { length }) => sum + length + 1 + MAX_LENGTH_BYTES,
    tail.length,
  );
  const bytes = new Uint8Array(room);
  let at = 0;
  for (const machine of encoded) {
    bytes[at++] = MACHINES_TAG;
    at = writeVarint(bytes, at, machine.length);
    bytes.set(machine, at);
    at += machine.length;
  }
  bytes.set(tail, at);
  return bytes.subarray(0, at + tail.length);
}

function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}

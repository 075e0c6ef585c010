// The shapes that messages of the wire are made from, and a stored record as one.

import { encodeInit, RecordFrameSchema } from '@bigfleet/wire';
import type { StoredRecord } from '../records/segment-format.ts';

type Schema = Parameters<typeof encodeInit>[0];

export type Init<S extends Schema> = Parameters<typeof encodeInit<S>>[1];

/** A plain object, never a message: what a list of a message is made from. */
export type RowInit<S extends Schema> = Exclude<Init<S>, { readonly $typeName: string }>;

// A stored record as the wire carries it: the engine's own encodings, untouched, each in a frame of
// its own that says its format. The dispositions come first, so that a reader that follows can show
// a record with them as soon as it has it.

/** Behind the four bytes of its magic a payload says its format. */
const FORMAT_AT = 4;

export function recordFrameInits(record: StoredRecord): Init<typeof RecordFrameSchema>[] {
  const { epoch, cycle, atUnixNanos, actionHash, payload, dispositions } = record;
  const payloads = dispositions.length === 0 ? [payload] : [dispositions, payload];
  return payloads.map((bytes) => ({
    shardEpoch: epoch,
    cycle,
    atUnixNanos,
    format: bytes[FORMAT_AT] ?? 0,
    payload: bytes,
    actionHash,
  }));
}

export function encodeRecordFrames(record: StoredRecord): Uint8Array[] {
  return recordFrameInits(record).map((init) => encodeInit(RecordFrameSchema, init));
}

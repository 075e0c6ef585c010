// A stored record as the wire carries it: the engine's own encodings, untouched, each in a frame of
// its own that says its format. The dispositions come first, so that a reader that follows can show
// a record with them as soon as it has it.

import { encodeInit, RecordFrameSchema } from '@bigfleet/wire';
import type { StoredRecord } from '../records/segment-format.ts';
import type { Init } from './wire-init.ts';

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

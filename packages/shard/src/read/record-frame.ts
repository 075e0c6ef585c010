// A stored record as the wire carries it. The payload is the engine's own encoding and passes
// through untouched.

import { encodeInit, RecordFrameSchema } from '@bigfleet/wire';
import type { StoredRecord } from '../records/segment-format.ts';
import type { Init } from './wire-init.ts';

/** Behind the four bytes of its magic a record says its format. */
const FORMAT_AT = 4;

export function recordFrameInit(record: StoredRecord): Init<typeof RecordFrameSchema> {
  const { epoch, cycle, atUnixNanos, actionHash, payload } = record;
  return {
    shardEpoch: epoch,
    cycle,
    atUnixNanos,
    format: payload[FORMAT_AT] ?? 0,
    payload,
    actionHash,
  };
}

export function encodeRecordFrame(record: StoredRecord): Uint8Array {
  return encodeInit(RecordFrameSchema, recordFrameInit(record));
}

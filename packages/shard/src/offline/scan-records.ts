// Stored records by cycle, time and subject, oldest first. A record that mentions nothing of the
// subject is passed over by its bytes alone; only what may mention it is decoded.

import { decodeRecord, explain, type ExplainAnswer, type ExplainSubject } from '@bigfleet/engine';
import { type ReadOptions, readRecords } from '../records/read-records.ts';
import type { SegmentFiles } from '../records/segment-files.ts';
import type { StoredRecord } from '../records/segment-format.ts';

export interface RecordQuery extends ReadOptions {
  /** Only records that decide about it. */
  readonly subject?: ExplainSubject | undefined;
  /** The oldest so many; absent is all. */
  readonly limit?: number;
}

export async function* scanRecords(
  files: SegmentFiles,
  { subject, limit = Number.POSITIVE_INFINITY, ...range }: RecordQuery = {},
): AsyncGenerator<StoredRecord, void> {
  let left = limit;
  for await (const record of readRecords(files, range)) {
    if (subject !== undefined && !isMentioned(record.payload, subject)) continue;
    if (left-- <= 0) return;
    yield record;
  }
}

/** Whether the record decides about the subject; to be looked at and left is no decision. */
export function isMentioned(payload: Uint8Array, subject: ExplainSubject): boolean {
  return mentionOf(payload, subject) === 'explained';
}

/** How the record speaks of the subject; a payload that this build cannot read does not. */
export function mentionOf(payload: Uint8Array, subject: ExplainSubject): ExplainAnswer['kind'] {
  if (!mayMention(payload, subject)) return 'not_mentioned';
  const record = decodeRecord(payload);
  return record.ok ? explain(record.value, subject).kind : 'not_mentioned';
}

/** Texts stand in a record as they are. */
function mayMention(payload: Uint8Array, subject: ExplainSubject): boolean {
  const text = 'machineId' in subject ? subject.machineId : subject.need.cluster;
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).includes(text);
}

// ListRecords: stored records by cycle, time and subject, and with `follow` the ones to come. A
// follower reads from memory; when it falls behind what is kept there it goes on from the files.

import { BigFleetError } from '@bigfleet/base';
import type { ExplainSubject } from '@bigfleet/engine';
import type { ListRecordsRequest } from '@bigfleet/wire';
import { isMentioned } from '../offline/scan-records.ts';
import { isWanted, type RecordRange } from '../records/read-records.ts';
import type { StoredRecord } from '../records/segment-format.ts';
import type { ReadSources } from './read-sources.ts';
import { limitOf, machineSubject, needSubject } from './requests.ts';

export async function* listRecords(
  sources: ReadSources,
  request: ListRecordsRequest,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord, void> {
  let left = limitOf(request.limit);
  const subject = subjectOf(request);
  const range = rangeOf(request);
  const records = request.follow
    ? follow(sources, range, subject, signal)
    : sources.records.scan({ ...range, subject }, signal);
  for await (const record of records) {
    if (left-- <= 0) return;
    yield record;
    if (left <= 0) return;
  }
}

/** Older records from the files, newer ones from memory; the oldest in memory is the seam. */
async function* follow(
  { epoch, records, reading }: ReadSources,
  range: RecordRange,
  subject: ExplainSubject | undefined,
  signal: AbortSignal,
): AsyncGenerator<StoredRecord, void> {
  const { tail } = reading;
  let last = tail.oldestCycle - 1n;
  for await (const record of records.scan({ ...range, subject }, signal)) {
    if (record.epoch !== epoch || record.cycle <= last) yield record;
  }
  while (!signal.aborted && last < (range.toCycle ?? last + 1n)) {
    if (tail.isClosed) throw new BigFleetError('unavailable', 'the shard is stopping');
    const newer = tail.since(last);
    if (newer === undefined) {
      // Read too slowly: what left the memory is in the files by now, or was dropped there too.
      const until = tail.oldestCycle - 1n;
      const missed = { ...range, subject, fromCycle: last + 1n, toCycle: until };
      for await (const record of records.scan(missed, signal)) {
        if (record.epoch === epoch && isWanted(record, range)) yield record;
      }
      last = until;
    } else if (newer.length === 0) {
      await tail.changed(signal);
    } else {
      for (const record of newer) {
        last = record.cycle;
        if (!isWanted(record, range)) continue;
        if (subject === undefined || isMentioned(record.payload, subject)) yield record;
      }
    }
  }
}

function subjectOf({ machineId, need }: ListRecordsRequest): ExplainSubject | undefined {
  if (machineId !== '' && need !== undefined) {
    throw new BigFleetError('read_request_invalid', 'give machine_id or need, not both');
  }
  if (machineId !== '') return machineSubject(machineId);
  return need === undefined ? undefined : needSubject(need);
}

function rangeOf(request: ListRecordsRequest): RecordRange {
  const { fromCycle, toCycle, fromUnixNanos, toUnixNanos } = request;
  return {
    ...(fromCycle === 0n ? {} : { fromCycle }),
    ...(toCycle === 0n ? {} : { toCycle }),
    ...(fromUnixNanos === 0n ? {} : { fromUnixNanos }),
    ...(toUnixNanos === 0n ? {} : { toUnixNanos }),
  };
}

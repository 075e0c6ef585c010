// Where stored records are read and explained: in this thread (simulation, tests) or in one of its
// own (production), because decoding and trying must not hold up the sockets. Both run the library
// behind `bigfleet explain` and `bigfleet records`.

import type { Timers } from '@bigfleet/base';
import {
  explainRecords,
  type ExplainQuestion,
  type ExplainResult,
} from '../offline/explain-records.ts';
import { type RecordQuery, scanRecords } from '../offline/scan-records.ts';
import { oldestCycle } from '../records/read-records.ts';
import type { SegmentFiles } from '../records/segment-files.ts';
import type { StoredRecord } from '../records/segment-format.ts';

export type RecordScan = Omit<RecordQuery, 'onDamage'>;

export interface RecordsReader {
  scan(query: RecordScan, signal: AbortSignal): AsyncIterable<StoredRecord>;
  explain(question: ExplainQuestion, signal: AbortSignal): Promise<ExplainResult>;
  /** Of the oldest record that is kept; 0 without one. */
  oldestCycle(): Promise<bigint>;
}

export function inlineRecordsReader(files: SegmentFiles, timers: Timers): RecordsReader {
  return {
    scan: async function* (query, signal) {
      for await (const record of scanRecords(files, query)) {
        signal.throwIfAborted();
        yield record;
        await timers.turn();
      }
    },
    explain: (question) => explainRecords(files, question),
    oldestCycle: () => oldestCycle(files),
  };
}

/** A shard that keeps no records. */
export const noRecords: RecordsReader = {
  scan: async function* () {},
  explain: () => Promise.resolve({ kind: 'not_found', text: 'this shard keeps no records' }),
  oldestCycle: () => Promise.resolve(0n),
};

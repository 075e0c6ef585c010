// What passes between the main thread and a thread that reads records: one job per thread. A scan is
// pulled, one record per question, so that a slow reader of a large directory holds one record.

import type { ExplainQuestion, ExplainResult } from '../../offline/explain-records.ts';
import type { StoredRecord } from '../../records/segment-format.ts';
import type { RecordScan } from '../records-reader.ts';

export interface ThreadData {
  readonly directory: string;
  readonly job:
    | { readonly kind: 'scan'; readonly query: RecordScan }
    | { readonly kind: 'explain'; readonly question: ExplainQuestion };
}

/** The next answer, please. */
export type ToThread = 'next';

export type FromThread =
  | { readonly kind: 'record'; readonly record: StoredRecord }
  | { readonly kind: 'end' }
  | { readonly kind: 'explained'; readonly result: ExplainResult };

// Reads and explains records in threads of their own, one per job, ended with it: decoding a segment
// or trying what would have helped takes longer than the thread of the sockets may stand still.
// Bounded in number and, for explanations, in time.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BigFleetError, orAborted, type Runtime, runWithDeadline } from '@bigfleet/base';
import type { ExplainQuestion, ExplainResult } from '../../offline/explain-records.ts';
import { oldestCycle } from '../../records/read-records.ts';
import { directorySegments, type SegmentFiles } from '../../records/segment-files.ts';
import type { StoredRecord } from '../../records/segment-format.ts';
import { ReaderSlots } from '../requests.ts';
import type { RecordScan, RecordsReader } from '../records-reader.ts';

const MAX_THREADS = 8;
const THREAD_HEAP_MIB = 2_048;
const EXPLAIN_WITHIN_MS = 60_000;

export class ThreadedRecordsReader implements RecordsReader {
  readonly #runtime: Runtime;
  readonly #directory: string;
  readonly #files: SegmentFiles;
  readonly #threads = new ReaderSlots(MAX_THREADS, 'threads that read records');

  constructor(runtime: Runtime, directory: string) {
    this.#runtime = runtime;
    this.#directory = directory;
    this.#files = directorySegments(directory);
  }

  async *scan(query: RecordScan, signal: AbortSignal): AsyncGenerator<StoredRecord, void> {
    using _slot = this.#threads.take();
    await using thread = new Thread({ directory: this.#directory, job: { kind: 'scan', query } });
    for (;;) {
      const answer = await orAborted(thread.next(), signal);
      if (answer.kind !== 'record') return;
      yield answer.record;
    }
  }

  explain(question: ExplainQuestion, signal: AbortSignal): Promise<ExplainResult> {
    const limits = { ms: EXPLAIN_WITHIN_MS, parent: signal };
    return runWithDeadline(this.#runtime, limits, (within) => this.#explain(question, within));
  }

  oldestCycle(): Promise<bigint> {
    return oldestCycle(this.#files);
  }

  async #explain(question: ExplainQuestion, signal: AbortSignal): Promise<ExplainResult> {
    using _slot = this.#threads.take();
    const job = { kind: 'explain', question } as const;
    await using thread = new Thread({ directory: this.#directory, job });
    const answer = await orAborted(thread.next(), signal);
    if (answer.kind === 'explained') return answer.result;
    throw new BigFleetError('internal', 'the thread that explains answered something else');
  }
}

class Thread implements AsyncDisposable {
  readonly #worker: Worker;
  #lost: Error | undefined;

  constructor(workerData: ThreadData) {
    this.#worker = new Worker(new URL('./thread-main.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
    });
    // Also between two questions, when nobody waits: an error that nobody hears ends the process.
    this.#worker.on('error', (error: Error) => {
      this.#lost = error;
    });
  }

  /** Rejects with what ended the thread. One question at a time. */
  async next(): Promise<FromThread> {
    if (this.#lost !== undefined) throw this.#lost;
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage('next');
    const [answer] = (await answered) as [FromThread];
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

// What passes between the main thread and a thread that reads records: one job per thread. A scan is
// pulled, one record per question, so that a slow reader of a large directory holds one record.

export interface ThreadData {
  readonly directory: string;
  readonly job:
    | { readonly kind: 'scan'; readonly query: RecordScan }
    | { readonly kind: 'explain'; readonly question: ExplainQuestion };
}

export type FromThread =
  | { readonly kind: 'record'; readonly record: StoredRecord }
  | { readonly kind: 'end' }
  | { readonly kind: 'explained'; readonly result: ExplainResult };

// The entry of a thread that reads records: does its one job and answers when asked. An exception
// ends the thread, and the reader that asked hears of it.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import { explainRecords } from '../../offline/explain-records.ts';
import { scanRecords } from '../../offline/scan-records.ts';
import { directorySegments } from '../../records/segment-files.ts';
import type { FromThread, ThreadData } from './threaded-reader.ts';

assert(parentPort !== null, 'records are read in a thread of their own');
const port = parentPort;
const answers = answersOf(workerData as ThreadData);

port.on('message', () => {
  answers.next().then(
    (step) => port.postMessage(step.done === true ? { kind: 'end' } : step.value),
    (error: unknown) => {
      // Thrown outside the promise, so that it ends the thread.
      queueMicrotask(() => {
        throw error;
      });
    },
  );
});

async function* answersOf({ directory, job }: ThreadData): AsyncGenerator<FromThread, void> {
  const files = directorySegments(directory);
  if (job.kind === 'explain') {
    yield { kind: 'explained', result: await explainRecords(files, job.question) };
    return;
  }
  // A copy: a record is a view of its whole segment, which must not cross the thread with it.
  for await (const record of scanRecords(files, job.query)) {
    const actionHash = Uint8Array.from(record.actionHash);
    const payload = Uint8Array.from(record.payload);
    const dispositions = Uint8Array.from(record.dispositions);
    yield { kind: 'record', record: { ...record, actionHash, payload, dispositions } };
  }
}

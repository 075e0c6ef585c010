// The reconcile worker's entry: one List after the other. An exception ends the thread; the host
// reports it, and the next List starts another one that knows nothing of before.

import { parentPort } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import { transferables } from '../list/columns.ts';
import type { ScanAnswer } from './list-scans.ts';
import type { FromScanWorker, ToScanWorker } from './messages.ts';
import { Scanner } from './scanner.ts';
import type { ThreadMeter } from './thread-meter.ts';

assert(parentPort !== null, 'the reconcile worker runs as a worker thread only');
const port = parentPort;
const scanner = new Scanner();
const firstAnswer = Promise.withResolvers<void>();
const measured: { meter?: ThreadMeter } = {};

port.on('message', ({ id, order }: ToScanWorker) => {
  const answer = scanner.scan(order);
  const message: FromScanWorker = { id, answer, threadDeltas: measured.meter?.take() };
  port.postMessage(message, buffersOf(answer));
  firstAnswer.resolve();
});

function buffersOf(answer: ScanAnswer): ArrayBuffer[] {
  if (answer.kind === 'malformed') return [];
  const { buffer } = answer.rows;
  const rows = buffer instanceof ArrayBuffer ? [buffer] : [];
  return [...transferables(answer.data), ...rows];
}

// A shard is ready after its first List, and should not wait for code that only measures.
await firstAnswer.promise;
const { startThreadMeter } = await import('./thread-meter.ts');
measured.meter = startThreadMeter();

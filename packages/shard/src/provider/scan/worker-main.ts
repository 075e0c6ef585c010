// The reconcile worker's entry: asks for Lists on its own connections, and scans one after the
// other. A provider's failure is an answer; any other exception ends the thread: the host reports
// it, and the next List starts another one that knows nothing of before.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { transferables } from '../list/columns.ts';
import { ProviderError } from '../provider-error.ts';
import { createCollector, LARGE_LIST_BYTES } from './collector.ts';
import { ListLines } from './list-lines.ts';
import type { ScanAnswer, ScanOrder } from './list-scans.ts';
import {
  type FromScanWorker,
  plainError,
  type ScanWorkerData,
  type ToScanWorker,
} from './messages.ts';
import { Scanner } from './scanner.ts';
import type { ThreadMeter } from './thread-meter.ts';

assert(parentPort !== null, 'the reconcile worker runs as a worker thread only');
const port = parentPort;
const scanner = new Scanner();
const runtime = realRuntime();
const lines = new ListLines(runtime, workerData as ScanWorkerData);
const collect = createCollector();
const firstAnswer = Promise.withResolvers<void>();
const measured: { meter?: ThreadMeter } = {};

port.on('message', (message: ToScanWorker) => {
  switch (message.kind) {
    case 'scan':
      return scan(message.id, message.order, 0);
    case 'list':
      list(message).catch(endThread);
      return;
    case 'cancel':
      return lines.cancel(message.id);
    case 'dial':
      return lines.dial(message.line, message.address);
    case 'hang_up':
      return lines.hangUp(message.line);
    case 'tls':
      return lines.replaceTls(message.tls);
  }
});

async function list(message: Extract<ToScanWorker, { kind: 'list' }>): Promise<void> {
  const { id, line, request, order } = message;
  let listed: Awaited<ReturnType<ListLines['list']>>;
  try {
    listed = await lines.list(id, line, request);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return send({ kind: 'failed', id, failure: plainError(error) });
  }
  send({ kind: 'answered', id });
  scan(id, { ...order, bytes: listed.bytes }, listed.connection);
}

function scan(id: number, order: ScanOrder, connection: number): void {
  const isLarge = order.bytes.length >= LARGE_LIST_BYTES;
  const answer = scanner.scan(order);
  const threadDeltas = measured.meter?.take();
  send({ kind: 'scanned', id, answer, connection, threadDeltas }, buffersOf(answer));
  measured.meter?.look();
  firstAnswer.resolve();
  // In a turn of its own, when nothing on the stack holds the List any more.
  if (isLarge) runtime.timers.after(0, collect);
}

function send(message: FromScanWorker, transfer: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function buffersOf(answer: ScanAnswer): ArrayBuffer[] {
  if (answer.kind === 'malformed') return [];
  const { buffer } = answer.rows;
  const rows = buffer instanceof ArrayBuffer ? [buffer] : [];
  return [...transferables(answer.data), ...rows];
}

/** Out of the promise, into the thread's own end. */
function endThread(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

// A shard is ready after its first List, and should not wait for code that only measures.
await firstAnswer.promise;
const { startThreadMeter } = await import('./thread-meter.ts');
measured.meter = startThreadMeter();

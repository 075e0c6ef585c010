// The reconcile worker's entry: asks for Lists on its own connections, and scans one after the
// other. A provider's failure is an answer; any other exception ends the thread: the host reports
// it, and the next List starts another one that knows nothing of before.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { ownBuffer, transferables } from '../list/columns.ts';
import { ProviderError } from '../provider-error.ts';
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

/** A delta is far below, a full List of some ten thousand machines above. */
const LARGE_LIST_BYTES: number = 1 << 23;

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
  return [...transferables(answer.data), ...ownBuffer(answer.rows)];
}

/**
 * Lets go of what a large List leaves behind: its bytes in the pieces that they came in, and its
 * tables, a few hundred megabytes outside of V8's heap. A thread that then rests allocates nothing, so
 * V8 sees no reason to collect for minutes. Only for a thread that serves nobody: the collection is
 * synchronous. Guarded by shard/recover/500k. Node has no other way to ask for a collection, short of
 * a flag that the user would have to set.
 */
function createCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert(isProcedure(collect), 'V8 exposes its collector');
  return collect;
}

function isProcedure(value: unknown): value is () => void {
  return typeof value === 'function';
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

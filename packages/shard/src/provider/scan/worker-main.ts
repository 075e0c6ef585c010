// The reconcile worker's entry: one List after the other. An exception ends the thread; the host
// reports it, and the next List starts another one that knows nothing of before.

import { parentPort } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import {
  createDeltaBuffer,
  nodeThreadSource,
  startThreadProbe,
  threadDeltas,
} from '@bigfleet/telemetry';
import { transferables } from '../list/columns.ts';
import type { ScanAnswer } from './list-scans.ts';
import type { FromScanWorker, ToScanWorker } from './messages.ts';
import { Scanner } from './scanner.ts';

assert(parentPort !== null, 'the reconcile worker runs as a worker thread only');
const port = parentPort;
const scanner = new Scanner();
const deltas = createDeltaBuffer(threadDeltas);
const probe = startThreadProbe(nodeThreadSource(), deltas.instruments);

port.on('message', ({ id, order }: ToScanWorker) => {
  const answer = scanner.scan(order);
  probe.sample();
  const message: FromScanWorker = { id, answer, threadDeltas: deltas.take() };
  port.postMessage(message, buffersOf(answer));
});

function buffersOf(answer: ScanAnswer): ArrayBuffer[] {
  if (answer.kind === 'malformed') return [];
  const { buffer } = answer.rows;
  const rows = buffer instanceof ArrayBuffer ? [buffer] : [];
  return [...transferables(answer.data), ...rows];
}

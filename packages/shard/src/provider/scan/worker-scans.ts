// Scans in a worker thread: a List of half a million machines takes a second to decode and compare,
// and the thread that owns the sockets may not stop for more than a few milliseconds. The buffers
// change hands; nothing large is copied.
//
// A thread that ends, or a scan that does not come back, is an error of that scan alone: the next one
// starts a new thread. What the old one knew is gone with it, so every row is looked at once more.

import { Worker } from 'node:worker_threads';
import { BigFleetError, type Runtime, type Timer } from '@bigfleet/base';
import { ownBuffer } from '../list/columns.ts';
import type { ListScans, ScanAnswer, ScanOrder } from './list-scans.ts';
import type { FromScanWorker, ToScanWorker } from './messages.ts';

/** Tables are typed arrays, outside of this; the heap holds little. */
const WORKER_HEAP_MIB = 1024;
/** Half a default: what lives short here are a List's few texts. */
const WORKER_YOUNG_MIB = 16;
/** Far beyond the largest List: what takes longer does not end. */
const SCAN_DEADLINE_MS = 120_000;

interface OpenScan {
  readonly deadline: Timer;
  resolve(answer: ScanAnswer): void;
  reject(error: Error): void;
}

export interface WorkerScansOptions {
  readonly runtime: Runtime;
  /** The thread ended by itself; it will be replaced. */
  readonly onLost: (error: BigFleetError) => void;
  /** The thread's own measurements: it has no registry (`threadDeltas` is their layout). */
  readonly onThreadDeltas?: (deltas: Float64Array) => void;
}

export class WorkerScans implements ListScans {
  readonly #options: WorkerScansOptions;
  readonly #scans = new Map<number, OpenScan>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: WorkerScansOptions) {
    this.#options = options;
  }

  scan(order: ScanOrder): Promise<ScanAnswer> {
    if (this.#isClosed) return Promise.reject(lost('the scans are closed'));
    const { promise, resolve, reject } = Promise.withResolvers<ScanAnswer>();
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#lastId;
    const deadline = this.#options.runtime.timers.after(SCAN_DEADLINE_MS, () =>
      this.#lose(worker, new Error(`a scan did not end within ${SCAN_DEADLINE_MS} ms`)),
    );
    this.#scans.set(id, { deadline, resolve, reject });
    const message: ToScanWorker = { id, order };
    worker.postMessage(message, ownBuffer(order.bytes));
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#lose(worker, new Error('the shard stops'));
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
      resourceLimits: {
        maxOldGenerationSizeMb: WORKER_HEAP_MIB,
        maxYoungGenerationSizeMb: WORKER_YOUNG_MIB,
      },
    });
    worker.on('message', ({ id, answer, threadDeltas }: FromScanWorker) => {
      if (threadDeltas !== undefined) this.#options.onThreadDeltas?.(threadDeltas);
      this.#settle(id, answer);
    });
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`it ended with ${code}`)));
    return worker;
  }

  #settle(id: number, answer: ScanAnswer): void {
    const scan = this.#scans.get(id);
    this.#scans.delete(id);
    scan?.deadline.cancel();
    scan?.resolve(answer);
  }

  /** Once per thread: whatever is told about it afterwards is about one that was given up. */
  #lose(worker: Worker, cause: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const error = lost('the reconcile thread was lost', cause);
    for (const scan of this.#scans.values()) {
      scan.deadline.cancel();
      scan.reject(error);
    }
    this.#scans.clear();
    if (this.#isClosed) return;
    this.#options.onLost(error);
    // It may hang rather than have ended; nobody waits for it any more.
    worker
      .terminate()
      .catch((thrown: unknown) =>
        this.#options.onLost(lost('the reconcile thread does not end', thrown)),
      );
  }
}

function lost(text: string, cause?: unknown): BigFleetError {
  return new BigFleetError('reconcile_lost', text, { cause });
}

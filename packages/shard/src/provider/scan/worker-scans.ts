// Lists in a worker thread: half a million machines take a second to receive, decode and compare,
// and the thread that owns the sockets may not stop for more than a few milliseconds. The thread has
// its own connection to each provider; what comes back to main changes hands, nothing large is
// copied. A List of a provider inside this process is received here and only scanned there.
//
// A thread that ends, or a List that does not come back, is an error of that List alone: the next one
// starts a new thread. What the old one knew is gone with it, so every row is looked at once more.

import { Worker } from 'node:worker_threads';
import { BigFleetError, type Runtime, type Timer } from '@bigfleet/base';
import type { Keepalive, TlsMaterial } from '@bigfleet/wire';
import { LIST_DEADLINE_MS } from '../call.ts';
import { ownBuffer } from '../list/columns.ts';
import { ProviderError } from '../provider-error.ts';
import type { AskOrder, ListAnswer, ListAsker } from './list-asker.ts';
import type { ListScans, ScanAnswer, ScanOrder } from './list-scans.ts';
import type { FromScanWorker, ScanWorkerData, ToScanWorker } from './messages.ts';
import { packTls } from './tls-parcel.ts';

/** Tables are typed arrays, outside of this; the heap holds little. */
const WORKER_HEAP_MIB = 1024;
/** Half a default: what lives short here are a List's few texts. */
const WORKER_YOUNG_MIB = 16;
/** Far beyond the largest List: what takes longer does not end. */
const SCAN_DEADLINE_MS = 120_000;

interface OpenScan {
  readonly deadline: Timer;
  readonly onAnswered?: (() => void) | undefined;
  resolve(answer: ListAnswer): void;
  reject(error: Error): void;
}

export interface WorkerScansOptions {
  readonly runtime: Runtime;
  /** The thread ended by itself; it will be replaced. */
  readonly onLost: (error: BigFleetError) => void;
  /** Of the process, followed by it; absent: providers are dialled in plaintext. */
  readonly tls?: TlsMaterial | undefined;
  /** Default: as `dial.ts` says. */
  readonly keepalive?: Keepalive | undefined;
  /** The thread's own measurements: it has no registry (`threadDeltas` is their layout). */
  readonly onThreadDeltas?: (deltas: Float64Array) => void;
}

/** One provider as the thread reaches it. */
export interface ListLine {
  readonly asker: ListAsker;
  /** What is open ends with CANCELLED. Idempotent. */
  close(): void;
}

export class WorkerScans implements ListScans {
  readonly #options: WorkerScansOptions;
  readonly #scans = new Map<number, OpenScan>();
  /** Addresses by number, for a thread that starts later. At most one per connected provider. */
  readonly #lines = new Map<number, string>();
  readonly #unfollowTls: () => void;
  #worker: Worker | undefined;
  #lastId = 0;
  #lastLine = 0;
  /** Threads number their connections by themselves, each from the beginning. */
  #lastThread = 0;
  #isClosed = false;

  constructor(options: WorkerScansOptions) {
    this.#options = options;
    const { tls } = options;
    this.#unfollowTls =
      tls?.onChange(() => this.#post({ kind: 'tls', tls: packTls(tls) })) ?? (() => {});
  }

  async scan(order: ScanOrder): Promise<ScanAnswer> {
    const question = (id: number): ToScanWorker => ({ kind: 'scan', id, order });
    const limits = { withinMs: SCAN_DEADLINE_MS, transfer: ownBuffer(order.bytes) };
    const { connection: _, ...answer } = await this.#ask(question, limits);
    return answer;
  }

  /** Lazy: a provider that is down is a failed List. */
  connect(address: string): ListLine {
    const line = ++this.#lastLine;
    this.#lines.set(line, address);
    this.#post({ kind: 'dial', line, address });
    return {
      asker: { ask: (order) => this.#list(line, order) },
      close: () => {
        if (!this.#lines.delete(line)) return;
        this.#post({ kind: 'hang_up', line });
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unfollowTls();
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#lose(worker, new Error('the shard stops'));
    await worker.terminate();
  }

  async #list(line: number, given: AskOrder): Promise<ListAnswer> {
    if (!this.#lines.has(line)) throw hungUp();
    const { request, signal, onAnswered, ...order } = given;
    const cancel = (): void => this.#post({ kind: 'cancel', id });
    let id = 0;
    const answer = this.#ask(
      (number) => {
        id = number;
        return { kind: 'list', id, line, request, order };
      },
      { withinMs: LIST_DEADLINE_MS + SCAN_DEADLINE_MS, onAnswered },
    );
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    try {
      return await answer;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #ask(
    question: (id: number) => ToScanWorker,
    { withinMs, onAnswered, transfer = [] }: AskLimits,
  ): Promise<ListAnswer> {
    if (this.#isClosed) return Promise.reject(lost('the scans are closed'));
    const { promise, resolve, reject } = Promise.withResolvers<ListAnswer>();
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#lastId;
    const deadline = this.#options.runtime.timers.after(withinMs, () =>
      this.#lose(worker, new Error(`a List did not come back within ${withinMs} ms`)),
    );
    this.#scans.set(id, { deadline, resolve, reject, onAnswered });
    worker.postMessage(question(id), transfer);
    return promise;
  }

  /** Nothing to do without a thread: the next one is told what holds then. */
  #post(message: ToScanWorker): void {
    this.#worker?.postMessage(message);
  }

  #start(): Worker {
    const { tls, keepalive } = this.#options;
    const thread = ++this.#lastThread;
    const data: ScanWorkerData = { tls: tls === undefined ? undefined : packTls(tls), keepalive };
    const worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
      workerData: data,
      resourceLimits: {
        maxOldGenerationSizeMb: WORKER_HEAP_MIB,
        maxYoungGenerationSizeMb: WORKER_YOUNG_MIB,
      },
    });
    for (const [line, address] of this.#lines) {
      worker.postMessage({ kind: 'dial', line, address } satisfies ToScanWorker);
    }
    worker.on('message', (answer: FromScanWorker) => this.#take(answer, thread));
    worker.on('error', (error: Error) => this.#lose(worker, error));
    worker.on('exit', (code) => this.#lose(worker, new Error(`it ended with ${code}`)));
    return worker;
  }

  #take(answer: FromScanWorker, thread: number): void {
    const scan = this.#scans.get(answer.id);
    if (answer.kind === 'answered') return scan?.onAnswered?.();
    this.#scans.delete(answer.id);
    scan?.deadline.cancel();
    if (answer.kind === 'failed') return scan?.reject(new ProviderError(answer.failure));
    if (answer.threadDeltas !== undefined) this.#options.onThreadDeltas?.(answer.threadDeltas);
    scan?.resolve({ ...answer.answer, connection: `${thread}.${answer.connection}` });
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
    // The thread may hang rather than have ended; no List waits for it any more.
    worker
      .terminate()
      .catch((thrown: unknown) =>
        this.#options.onLost(lost('the reconcile thread does not end', thrown)),
      );
  }
}

interface AskLimits {
  readonly withinMs: number;
  readonly onAnswered?: (() => void) | undefined;
  readonly transfer?: readonly ArrayBuffer[];
}

/** As a call on a closed channel ends. */
function hungUp(): ProviderError {
  const message = 'the provider is connected no more';
  return new ProviderError({ failure: 'unknown_result', status: 'CANCELLED', message });
}

function lost(text: string, cause?: unknown): BigFleetError {
  return new BigFleetError('reconcile_lost', text, { cause });
}

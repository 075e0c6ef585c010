// The engine's thread, seen from main: inputs without an answer, and questions with one.
//
// Inputs gather as bytes and leave before any message that wants an answer, when a batch is full, or
// when a cycle is near: inputs that leave with the cycle's question make the cycle wait for them.
// The port keeps order and loses nothing. When the thread ends, every open question is rejected
// with why; the process must end then.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BigFleetError } from '@bigfleet/base';
import { InputEncoder, type TraceEntry } from '@bigfleet/engine';
import type { DeciderOptions } from './decider.ts';
import type { Exchanges, FromWorker, ToWorker } from './worker-main.ts';

/** Batches stay small, so that neither thread is held up by one. */
const BATCH_BYTES: number = 1 << 18;
/** The engine holds half a million machines in a few hundred megabytes. */
const WORKER_HEAP_MIB = 4096;
/** Two halves of 16 and what is too large for them: more only holds garbage, and copies it. */
const WORKER_YOUNG_MIB = 48;

export class EngineThread {
  readonly #worker: Worker;
  readonly #inputs: InputEncoder = new InputEncoder();
  readonly #questions = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #lost: Error | undefined;
  #isClosing = false;

  constructor(workerData: DeciderOptions) {
    this.#worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
      workerData,
      resourceLimits: {
        maxOldGenerationSizeMb: WORKER_HEAP_MIB,
        maxYoungGenerationSizeMb: WORKER_YOUNG_MIB,
      },
    });
    this.#worker.on('message', ({ id, answer }: FromWorker) => {
      this.#questions.get(id)?.resolve(answer);
      this.#questions.delete(id);
    });
    this.#worker.on('error', (error: Error) => this.#lose(error));
    this.#worker.on('exit', (code) =>
      this.#lose(new Error(`the engine thread ended with ${code}`)),
    );
  }

  input(entry: TraceEntry): void {
    this.#inputs.write(entry);
    if (this.#inputs.length >= BATCH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#inputs.length === 0) return;
    const bytes = this.#inputs.take();
    this.#post({ kind: 'inputs', bytes }, [bytes.buffer]);
  }

  rotateTrace(): void {
    this.flush();
    this.#post({ kind: 'rotate_trace' });
  }

  async ask<K extends keyof Exchanges>(
    kind: K,
    question: Exchanges[K]['question'],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Exchanges[K]['answer']> {
    if (this.#lost !== undefined) throw this.#lost;
    this.flush();
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#questions.set(id, answer);
    this.#post({ kind, id, question } as ToWorker, transfer);
    return (await answer.promise) as Exchanges[K]['answer'];
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#lost !== undefined) return;
    const exit = once(this.#worker, 'exit');
    await this.#worker.terminate();
    await exit;
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #lose(cause: Error): void {
    if (this.#lost !== undefined) return;
    const text = this.#isClosing ? 'the engine was closed' : 'the engine thread was lost';
    this.#lost = new BigFleetError('engine_lost', text, { cause });
    for (const question of this.#questions.values()) question.reject(this.#lost);
    this.#questions.clear();
  }
}

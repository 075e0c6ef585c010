// The engine in a worker thread: a decision of seconds must not stop the thread that owns the
// sockets, or thousands of operators see a dead peer and reconnect at once.
//
// Inputs gather as bytes and leave before any message that wants an answer, when a batch is full, or
// when a cycle is near: inputs that leave with the cycle's question make the cycle wait for them.
// The port keeps order and loses nothing. When the thread ends, every open question is rejected
// and `lost` says why; the process must end then.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BigFleetError } from '@bigfleet/base';
import { type Brakes, InputEncoder, type TraceEntry } from '@bigfleet/engine';
import type { RollupOrder, RollupVerdict } from '../rollup/admission.ts';
import { packRollups, RollupBatches, RollupWindow } from '../rollup/transfer.ts';
import type { DeciderOptions } from './decider.ts';
import { type EngineHost, MachineWrites } from './engine-host.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './worker-main.ts';

/** Batches stay small, so that neither thread is held up by one. */
const BATCH_BYTES: number = 1 << 18;
/** The engine holds half a million machines in a few hundred megabytes. */
const WORKER_HEAP_MIB = 4096;
/** Two halves of 16 and what is too large for them: more only holds garbage, and copies it. */
const WORKER_YOUNG_MIB = 48;

interface Question {
  resolve(answer: FromWorker): void;
  reject(error: Error): void;
}

/** The thread's own measurements: it has no registry (`threadDeltas` is their layout). */
type ThreadDeltasListener = (deltas: Float64Array) => void;

export class WorkerHost implements EngineHost {
  readonly machines: EngineHost['machines'];
  readonly #writes: MachineWrites = new MachineWrites();
  readonly #worker: Worker;
  readonly #inputs: InputEncoder = new InputEncoder();
  readonly #rollups: RollupWindow = new RollupWindow();
  readonly #batches: RollupBatches = new RollupBatches((orders) => this.#postRollups(orders));
  readonly #questions = new Map<number, Question>();
  readonly #onThreadDeltas: ThreadDeltasListener | undefined;
  #lastId = 0;
  #lost: Error | undefined;
  #isClosing = false;

  constructor(engine: DeciderOptions = {}, onThreadDeltas?: ThreadDeltasListener) {
    this.#onThreadDeltas = onThreadDeltas;
    const workerData: WorkerOptions = { engine };
    this.#worker = new Worker(new URL('./worker-main.ts', import.meta.url), {
      workerData,
      resourceLimits: {
        maxOldGenerationSizeMb: WORKER_HEAP_MIB,
        maxYoungGenerationSizeMb: WORKER_YOUNG_MIB,
      },
    });
    this.#worker.on('message', (message: FromWorker) => this.#settle(message));
    this.#worker.on('error', (error: Error) => this.#lose(error));
    this.#worker.on('exit', (code) =>
      this.#lose(new Error(`the engine thread ended with ${code}`)),
    );
    this.machines = this.#writes.through({
      put: (machine, nowMs) => this.#input({ kind: 'put', machine, nowMs }),
      remove: (id) => this.#input({ kind: 'remove', id }),
      move: (id, to, changes, nowMs) => this.#input({ kind: 'move', id, to, changes, nowMs }),
      withhold: (id, reason) => this.#input({ kind: 'withhold', id, reason }),
    });
  }

  onMachineWrite(listener: (machineId: string) => void): void {
    this.#writes.listen(listener);
  }

  async applyRollup(
    order: Parameters<EngineHost['applyRollup']>[0],
  ): ReturnType<EngineHost['applyRollup']> {
    return this.#rollups.pass(order.bytes.length, () => this.#batches.add(order));
  }

  async forgetCluster(cluster: string): Promise<void> {
    // Behind the roll-ups that wait: one of them may be this cluster's.
    await this.#rollups.pass(0, () => {
      this.#batches.flush();
      return this.#ask('forgotten', (id) => ({ kind: 'forget', id, cluster }));
    });
  }

  markReported(cluster: string): void {
    this.#input({ kind: 'reported', cluster });
  }

  setHeldOff(heldOff: ReadonlySet<string>): void {
    this.#input({ kind: 'held_off', heldOff });
  }

  setBrakes(brakes: Brakes): void {
    this.#input({ kind: 'brakes', brakes });
  }

  setReleasePolicy(policy: Parameters<EngineHost['setReleasePolicy']>[0]): void {
    this.#input({ kind: 'release_policy', policy });
  }

  shipInputs(): void {
    this.#flush();
  }

  async cycle(options: Parameters<EngineHost['cycle']>[0]): ReturnType<EngineHost['cycle']> {
    const { answer, threadDeltas } = await this.#ask('answer', (id) => ({
      kind: 'cycle',
      id,
      options,
    }));
    this.#onThreadDeltas?.(threadDeltas);
    return answer;
  }

  async verdicts(query: Parameters<EngineHost['verdicts']>[0]): ReturnType<EngineHost['verdicts']> {
    return (await this.#ask('verdicts', (id) => ({ kind: 'verdicts', id, query }))).page;
  }

  async needChanges(isFresh: boolean): ReturnType<EngineHost['needChanges']> {
    return (await this.#ask('need_changes', (id) => ({ kind: 'need_changes', id, isFresh })))
      .changes;
  }

  async priorities(machineIds: readonly string[]): Promise<readonly number[]> {
    const question = (id: number): ToWorker => ({ kind: 'priorities', id, machineIds });
    return (await this.#ask('priorities', question)).priorities;
  }

  rotateTrace(): void {
    this.#flush();
    this.#post({ kind: 'rotate_trace' }, []);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#lost !== undefined) return;
    const exit = once(this.#worker, 'exit');
    await this.#worker.terminate();
    await exit;
  }

  async #postRollups(orders: readonly RollupOrder[]): Promise<readonly RollupVerdict[]> {
    const rollups = packRollups(orders);
    const { buffer } = rollups.bytes;
    const question = (id: number): ToWorker => ({ kind: 'rollups', id, rollups });
    return (await this.#ask('rollups', question, [buffer])).verdicts;
  }

  #input(entry: TraceEntry): void {
    this.#inputs.write(entry);
    if (this.#inputs.length >= BATCH_BYTES) this.#flush();
  }

  #flush(): void {
    if (this.#inputs.length === 0) return;
    const bytes = this.#inputs.take();
    this.#post({ kind: 'inputs', bytes }, [bytes.buffer]);
  }

  async #ask<K extends FromWorker['kind']>(
    kind: K,
    question: (id: number) => ToWorker,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Extract<FromWorker, { kind: K }>> {
    if (this.#lost !== undefined) throw this.#lost;
    this.#flush();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<FromWorker>();
    this.#questions.set(id, { resolve, reject });
    this.#post(question(id), transfer);
    const answer = await promise;
    if (answer.kind === kind) return answer as Extract<FromWorker, { kind: K }>;
    const text = 'the engine answered another question';
    throw new BigFleetError('engine_lost', text, { fields: { kind: answer.kind } });
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[]): void {
    this.#worker.postMessage(message, transfer);
  }

  #settle(message: FromWorker): void {
    const question = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    question?.resolve(message);
  }

  #lose(cause: Error): void {
    if (this.#lost !== undefined) return;
    const text = this.#isClosing ? 'the engine was closed' : 'the engine thread was lost';
    this.#lost = new BigFleetError('engine_lost', text, { cause });
    for (const question of this.#questions.values()) question.reject(this.#lost);
    this.#questions.clear();
  }
}

// The engine worker's entry: takes messages in order and answers them. An exception ends the
// thread; the host sees that and the process ends, because an engine that lost an input decides
// about a fleet that does not exist.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type CycleOptions, InputDecoder } from '@bigfleet/engine';
import {
  createDeltaBuffer,
  nodeThreadSource,
  startThreadProbe,
  threadDeltas,
} from '@bigfleet/telemetry';
import { Decider, type DeciderOptions } from './decider.ts';
import type { CycleAnswer } from './answer.ts';
import type { RollupVerdict } from '../rollup/admission.ts';
import { type PackedRollups, unpackRollups } from '../rollup/transfer.ts';
import type { NeedChanges } from './need-journal.ts';
import type { VerdictPage, VerdictQuery } from './need-verdicts.ts';

/** Inputs are bytes (InputEncoder) and keep their order; a message that wants an answer has a number. */
export type ToWorker =
  | { readonly kind: 'inputs'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'rollups'; readonly id: number; readonly rollups: PackedRollups }
  | { readonly kind: 'forget'; readonly id: number; readonly cluster: string }
  | { readonly kind: 'verdicts'; readonly id: number; readonly query: VerdictQuery }
  | { readonly kind: 'need_changes'; readonly id: number; readonly isFresh: boolean }
  | { readonly kind: 'priorities'; readonly id: number; readonly machineIds: readonly string[] }
  | { readonly kind: 'rotate_trace' }
  | { readonly kind: 'cycle'; readonly id: number; readonly options: CycleOptions };

export type FromWorker =
  /** In the order of the orders. */
  | { readonly kind: 'rollups'; readonly id: number; readonly verdicts: readonly RollupVerdict[] }
  | { readonly kind: 'forgotten'; readonly id: number }
  | { readonly kind: 'verdicts'; readonly id: number; readonly page: VerdictPage }
  | { readonly kind: 'need_changes'; readonly id: number; readonly changes: NeedChanges }
  | { readonly kind: 'priorities'; readonly id: number; readonly priorities: readonly number[] }
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: CycleAnswer;
      /** Of the engine's thread since the answer before: lag, collections, heap. */
      readonly threadDeltas: Float64Array;
    };

export interface WorkerOptions {
  readonly engine: DeciderOptions;
}

assert(parentPort !== null, 'the engine worker runs as a worker thread only');
const port = parentPort;
const { clock } = realRuntime();
const inputs = new InputDecoder();
const deltas = createDeltaBuffer(threadDeltas);
const probe = startThreadProbe(nodeThreadSource(), deltas.instruments);
probe.sample();
const decider = new Decider(() => clock.monotonicMs(), (workerData as WorkerOptions).engine);

port.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'inputs':
      for (const entry of inputs.decode(message.bytes)) decider.apply(entry);
      return;
    case 'rollups': {
      const orders = unpackRollups(message.rollups);
      const verdicts = Array.from(orders, (order) => decider.rollups.admit(order));
      return send({ kind: 'rollups', id: message.id, verdicts });
    }
    case 'forget':
      decider.rollups.forget(message.cluster);
      return send({ kind: 'forgotten', id: message.id });
    case 'verdicts':
      return send({ kind: 'verdicts', id: message.id, page: decider.verdicts(message.query) });
    case 'need_changes': {
      const changes = decider.needChanges(message.isFresh);
      return send({ kind: 'need_changes', id: message.id, changes });
    }
    case 'priorities': {
      const priorities = decider.priorities(message.machineIds);
      return send({ kind: 'priorities', id: message.id, priorities });
    }
    case 'rotate_trace':
      return decider.rotateTrace();
    case 'cycle': {
      const answer = decider.cycle(message.options);
      const shipped = deltas.take();
      send({ kind: 'answer', id: message.id, answer, threadDeltas: shipped }, buffersOf(answer));
      // 0.3 ms that no cycle waits for: what is found goes out with the next answer.
      return probe.sample();
    }
  }
});

function send(message: FromWorker, transfer: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function buffersOf({ actions, record, trace }: CycleAnswer): ArrayBuffer[] {
  const { kind, slot, generation, cluster, need, graceSeconds, preemptorPriority } = actions;
  const columns = [kind, slot, generation, cluster, need, graceSeconds, preemptorPriority, record];
  return [...columns, ...trace.map(({ bytes }) => bytes)].map(({ buffer }) => buffer);
}

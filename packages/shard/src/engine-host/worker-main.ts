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

/** What the thread is asked and what it answers. */
export interface Exchanges {
  /** The verdicts are in the order of the roll-ups. */
  readonly rollups: Exchange<PackedRollups, readonly RollupVerdict[]>;
  readonly verdicts: Exchange<VerdictQuery, VerdictPage>;
  readonly need_changes: Exchange<boolean, NeedChanges>;
  readonly priorities: Exchange<readonly string[], readonly number[]>;
  readonly cycle: Exchange<CycleOptions, MeasuredAnswer>;
}

interface Exchange<Q, A> {
  readonly question: Q;
  readonly answer: A;
}

interface MeasuredAnswer {
  readonly answer: CycleAnswer;
  /** Of the engine's thread since the answer before: lag, collections, heap. */
  readonly threadDeltas: Float64Array;
}

type Question<K extends keyof Exchanges> = {
  readonly kind: K;
  readonly id: number;
  readonly question: Exchanges[K]['question'];
};

/** Inputs are bytes (InputEncoder); messages keep their order. */
export type ToWorker =
  | { readonly kind: 'inputs'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'rotate_trace' }
  | { readonly [K in keyof Exchanges]: Question<K> }[keyof Exchanges];

export interface FromWorker {
  readonly id: number;
  readonly answer: unknown;
}

assert(parentPort !== null, 'the engine worker runs as a worker thread only');
const port = parentPort;
const { clock } = realRuntime();
const inputs = new InputDecoder();
const deltas = createDeltaBuffer(threadDeltas);
const probe = startThreadProbe(nodeThreadSource(), deltas.instruments);
probe.sample();
const decider = new Decider(() => clock.monotonicMs(), workerData as DeciderOptions);

port.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'inputs':
      for (const entry of inputs.decode(message.bytes)) decider.apply(entry);
      return;
    case 'rotate_trace':
      return decider.rotateTrace();
    case 'rollups': {
      const orders = unpackRollups(message.question);
      return answer(
        message,
        Array.from(orders, (order) => decider.rollups.admit(order)),
      );
    }
    case 'verdicts':
      return answer(message, decider.verdicts(message.question));
    case 'need_changes':
      return answer(message, decider.needChanges(message.question));
    case 'priorities':
      return answer(message, decider.priorities(message.question));
    case 'cycle': {
      const decided = decider.cycle(message.question);
      const measured = { answer: decided, threadDeltas: deltas.take() };
      answer(message, measured, buffersOf(decided));
      // 0.3 ms that no cycle waits for: what is found goes out with the next answer.
      return probe.sample();
    }
  }
});

function answer<K extends keyof Exchanges>(
  { id }: Question<K>,
  given: Exchanges[K]['answer'],
  transfer: readonly ArrayBuffer[] = [],
): void {
  const message: FromWorker = { id, answer: given };
  port.postMessage(message, transfer);
}

function buffersOf({ actions, record, trace }: CycleAnswer): ArrayBuffer[] {
  const { kind, slot, generation, cluster, need, graceSeconds, preemptorPriority } = actions;
  const columns = [kind, slot, generation, cluster, need, graceSeconds, preemptorPriority, record];
  return [...columns, ...trace.map(({ bytes }) => bytes)].map(({ buffer }) => buffer);
}

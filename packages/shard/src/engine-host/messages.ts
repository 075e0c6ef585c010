// What passes between the main thread and the engine worker. Inputs are bytes (InputEncoder) and
// keep their order; whatever wants an answer carries a number.

import type { CycleOptions } from '@bigfleet/engine';
import type { CycleAnswer, RollupVerdict } from './answer.ts';
import type { DeciderOptions } from './decider.ts';
import type { NeedChanges } from './need-journal.ts';
import type { VerdictPage, VerdictQuery } from './need-verdicts.ts';
import type { PackedRollups } from '../rollup/packing.ts';

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

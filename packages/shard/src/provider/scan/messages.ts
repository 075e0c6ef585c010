// What passes between the main thread and the reconcile worker.

import type { ScanAnswer, ScanOrder } from './list-scans.ts';

export interface ToScanWorker {
  readonly id: number;
  readonly order: ScanOrder;
}

export interface FromScanWorker {
  readonly id: number;
  readonly answer: ScanAnswer;
  /** Of the reconcile thread since the answer before; undefined in the first answers. */
  readonly threadDeltas: Float64Array | undefined;
}

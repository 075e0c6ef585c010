// Where a List is decoded and held against the Lists before it: inline (virtual time, tests) or in
// a worker thread (production), by the same code. What comes back names only the rows that the main
// thread has to look at; at rest that is none of half a million.
//
// A scan never says that a row may be ignored unless main took in an equal one and wrote nothing to
// the machine since. Main tells what it wrote and what it could not settle; then the row comes again.

import type { ListData } from '../list/columns.ts';

export interface ListScans {
  /** One at a time per provider. Rejects with `reconcile_lost`; the next scan starts anew. */
  scan(order: ScanOrder): Promise<ScanAnswer>;
  /** Idempotent; open scans are rejected. */
  close(): Promise<void>;
}

export interface ScanOrder {
  readonly provider: string;
  /** A MachineList, undecoded. Given away: a worker takes the buffer. */
  readonly bytes: Uint8Array;
  /** Only a full List can say that a machine is gone. */
  readonly isFull: boolean;
  /** Nothing of before counts: every row is to be looked at. */
  readonly isAnew: boolean;
  /** Rows of the scan before that main looked at and did not settle. */
  readonly unsettledRows: Uint32Array;
  /** Machines that main knows otherwise than from their last row. */
  readonly again: readonly string[];
}

export type ScanAnswer =
  | {
      readonly kind: 'scanned';
      readonly data: ListData;
      /** What main has to look at; where that is much, in the order of the ids. */
      readonly rows: Uint32Array;
      /**
       * Machines of earlier Lists that this full one does not contain; undefined when that is for
       * main to find out, because nothing of before was known here.
       */
      readonly absent: readonly string[] | undefined;
    }
  /** No MachineList at all. */
  | { readonly kind: 'malformed'; readonly detail: string };

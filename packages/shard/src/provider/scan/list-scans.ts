// Where a List is decoded and held against the Lists before it: inline (virtual time, tests) or in
// a worker thread (production), by the same code. What comes back names only the rows that the main
// thread has to look at; at rest that is none of half a million.
//
// A scan never says that a row may be ignored unless main took in an equal one and wrote nothing to
// the machine since: main tells with the next order what it wrote and what it could not take in.
//
// A delta lists every machine that changed after its cursor. So a record that an earlier List brought
// and that no delta has replaced since is what the provider says today: it waits here until main takes
// it in, and the cursor moves on past it.

import type { ListData } from '../list/columns.ts';

export interface ListScans {
  /** One at a time per provider. Rejects with `reconcile_lost`; the next scan starts anew. */
  scan(order: ScanOrder): Promise<ScanAnswer>;
  /** Idempotent; open scans are rejected. */
  close(): Promise<void>;
}

/** What became of the rows of the scan before. */
export interface ScanMarks {
  /** Nothing of before counts: every row is to be looked at. */
  readonly isAnew: boolean;
  /** Rows of the scan before that main looked at and did not take in. */
  readonly unsettledRows: Uint32Array;
  /** Machines that main knows otherwise than from their last row. */
  readonly again: readonly string[];
  /**
   * Records, as a List, that main could not take in and may take in later: a delta offers those again
   * of which it says nothing newer. A full List brings every record itself.
   */
  readonly waiting: Uint8Array<ArrayBuffer>;
}

export interface ScanOrder extends ScanMarks {
  readonly provider: string;
  /** A MachineList, undecoded. Given away: a worker takes the buffer. */
  readonly bytes: Uint8Array;
  readonly isFull: boolean;
}

export const noMarks: ScanMarks = {
  isAnew: false,
  unsettledRows: new Uint32Array(0),
  again: [],
  waiting: new Uint8Array(0),
};

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

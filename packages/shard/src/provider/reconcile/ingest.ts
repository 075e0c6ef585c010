// What reconcile asks its caller to do, in order. Changes are records that Inventory.put takes;
// `before` is what was known, because a terminal update goes to the cluster of before the change.

import type { MachineRefusal } from '@bigfleet/base';
import type { DecodedAssignment, Assignment, Machine, MetadataProblem } from '@bigfleet/engine';

export type IngestChange =
  /** New to the shard; the assignment is what the provider echoed. */
  | { readonly kind: 'inserted'; readonly machine: Machine; readonly skipped: SkippedMetadata }
  /** Same state and binding, other price, labels or error text: put, no notification. */
  | { readonly kind: 'refreshed'; readonly machine: Machine }
  /**
   * Moved along an edge that our own actions walk: put, then notify. Replaced, where no edge leads (a
   * lost host): remove, put, notify, log and count.
   */
  | {
      readonly kind: 'moved' | 'replaced';
      readonly machine: Machine;
      readonly before: Machine;
      readonly skipped: SkippedMetadata;
    }
  /** Absent from a complete List: remove, notify. */
  | { readonly kind: 'removed'; readonly before: Machine };

/** Values of the echo that could not be used; the others apply. */
export type SkippedMetadata = readonly MetadataProblem[];

/** A record that was not applied. What was known before stays, and the id counts as seen. */
export interface RejectedRecord {
  /** Empty when not even the id could be read. */
  readonly id: string;
  /** As listed, also a state that we do not know; 0 when it could not be read. */
  readonly state: number;
  readonly reason: MachineRefusal;
  readonly detail: string;
}

/** Possibly empty: work was done all the same, and I/O is to be let in. */
export interface IngestBatch {
  readonly changes: readonly IngestChange[];
  readonly rejected: readonly RejectedRecord[];
}

/**
 * Reads the shard's stamps out of an echo; `known` stays where the echo says nothing usable. The
 * engine's `decodeShardMetadata`.
 */
export type AssignmentReader = (
  metadata: Readonly<Record<string, string>>,
  known?: Assignment,
) => DecodedAssignment;

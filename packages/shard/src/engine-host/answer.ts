// What the engine answers for one cycle, as columns and small dictionaries: nothing in it is
// proportional to the fleet, and it crosses a thread by transfer. Slots name machines of the
// fleet, because both inventories take the same writes in the same order; the generation tells a
// slot that was given to another machine since.

import type { PenaltyBucket } from '@bigfleet/base';
import type { ActionHash, EnginePhase, PassKind, Requirement, Shortfall } from '@bigfleet/engine';
import type { TracePart } from './trace-parts.ts';

/** The need that an acquisition or a preemption serves. */
export interface ActionNeed {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly group: string;
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  readonly requirements: readonly Requirement[];
}

export interface DecidedActions {
  readonly count: number;
  readonly kind: Uint8Array<ArrayBuffer>;
  readonly slot: Int32Array<ArrayBuffer>;
  readonly generation: Uint32Array<ArrayBuffer>;
  /** Index in `clusters`, −1 for Delete. */
  readonly cluster: Int32Array<ArrayBuffer>;
  /** Index in `needs`, −1 for Reclaim and Delete. */
  readonly need: Int32Array<ArrayBuffer>;
  readonly graceSeconds: Int32Array<ArrayBuffer>;
  readonly preemptorPriority: Int32Array<ArrayBuffer>;
  readonly clusters: readonly string[];
  readonly needs: readonly ActionNeed[];
}

/** Milliseconds per phase of one cycle; a safety pass is in all three. */
export type PhaseTimes = Readonly<Record<EnginePhase, number>>;

export interface CycleAnswer {
  readonly cycle: number;
  readonly pass: PassKind;
  /** Safety passes so far that disagreed; any is a bug. */
  readonly mismatchCount: number;
  readonly actions: DecidedActions;
  /** The decision record, empty when records are off. */
  readonly record: Uint8Array<ArrayBuffer>;
  /** Over the decided actions, before the rails. */
  readonly actionHash: ActionHash;
  /** Everything that reached the engine since the answer before; empty without a trace. */
  readonly trace: readonly TracePart[];
  /** By fingerprint: what neither claims nor drains cover, with ages. */
  readonly shortfalls: ReadonlyMap<string, Shortfall>;
  readonly clusterCount: number;
  readonly rowCount: number;
  /** What the phases took, on the thread that decided. */
  readonly tookMs: PhaseTimes;
}

/** A distinct profile that some cluster demands, under the number that verdicts name it by. */
export interface DemandedShape {
  readonly number: number;
  readonly fingerprint: string;
  /** Without Same: what a machine carries that serves it as one of several folded needs. */
  readonly foldedFingerprint: string;
  readonly requirements: readonly Requirement[];
  readonly interruptionBucket: PenaltyBucket;
}

/** A cluster's demand as the main thread keeps it: see demand-listing.ts. */
export interface AppliedDemand {
  /** Numbers of the distinct profiles. */
  readonly profiles: Int32Array<ArrayBuffer>;
  /** Profiles whose number is new, or was another's before. */
  readonly defined: readonly DemandedShape[];
  /** Rows by interruption bucket; index 0 is unused. */
  readonly rowsByBucket: Int32Array<ArrayBuffer>;
}

/** What became of one roll-up. */
export type RollupVerdict =
  | {
      readonly kind: 'applied';
      readonly rows: number;
      readonly previousRows: number;
      /** 0, or how many roll-ups in a row it took to believe a drop. */
      readonly confirmedAfter: number;
      /** Undefined: the profiles and counts of the cluster's last one. */
      readonly demand: AppliedDemand | undefined;
    }
  | {
      readonly kind: 'held';
      readonly rows: number;
      readonly previousRows: number;
      readonly consecutive: number;
    }
  | { readonly kind: 'rejected'; readonly code: string; readonly detail: string };

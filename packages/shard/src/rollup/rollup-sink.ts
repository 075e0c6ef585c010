// Where undecoded roll-ups go: the engine worker, behind this port. The shard's main thread never
// sees a need. Calls for one cluster are strictly ordered: the intake submits the next roll-up of a
// cluster after the verdict on the previous one, and the worker must apply `submit`, `unchanged`
// and a forget of the cluster in the order in which they were called.

export type RollupVerdict =
  /** In the NeedsTable now. */
  | {
      readonly kind: 'applied';
      readonly rows: number;
      readonly previousRows: number;
      /** 0, or how many roll-ups in a row it took to believe a drop. */
      readonly confirmedAfter: number;
    }
  /** Rail 2 keeps it out; the cluster's last accepted demand stays. */
  | {
      readonly kind: 'held';
      readonly rows: number;
      readonly previousRows: number;
      readonly consecutive: number;
    }
  /**
   * Nothing of it was taken. `code` is one of base's roll-up refusals; `detail` names the row and
   * field, and is fit for a log.
   */
  | { readonly kind: 'rejected'; readonly code: string; readonly detail: string };

export interface RollupSink {
  /**
   * Decodes, checks, guards and stores one roll-up (ClusterCapacityNeeds bytes). The bytes are a
   * view of a received frame, and stay as they are until it settles: transfer a copy, never the
   * buffer. Settles in every case: it rejects with the environment's error when the worker is gone.
   */
  submit(cluster: string, bytes: Uint8Array, digest: string): Promise<RollupVerdict>;
  /** The cluster repeated its accepted roll-up: a streak of suspicious ones is over. */
  unchanged(cluster: string): void;
}

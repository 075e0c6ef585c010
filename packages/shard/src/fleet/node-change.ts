// A machine changed state: what the operator of its cluster is told (shard §10). Drain and loss
// clear the binding, and the last update must still reach the former owner, or its node record
// leaks for ever: so the cluster of before is kept beside the machine of after.

import type { Machine, StateCode } from '@bigfleet/engine';

export interface NodeChange {
  /** As it is now; for a removed machine, as it was. */
  readonly machine: Machine;
  readonly isRemoved: boolean;
  /** Undefined for a machine that is new. */
  readonly from: StateCode | undefined;
  /** Whom to tell: the machine's cluster, else the one it had; empty when there was none. */
  readonly cluster: string;
  /** The binding of before; empty when there was none. */
  readonly previousCluster: string;
}

export function nodeChange(after: Machine, before: Machine | undefined): NodeChange {
  return {
    machine: after,
    isRemoved: false,
    from: before?.state,
    cluster: after.cluster === '' ? (before?.cluster ?? '') : after.cluster,
    previousCluster: before?.cluster ?? '',
  };
}

export function nodeRemoval(before: Machine): NodeChange {
  const { cluster, state } = before;
  return { machine: before, isRemoved: true, from: state, cluster, previousCluster: cluster };
}

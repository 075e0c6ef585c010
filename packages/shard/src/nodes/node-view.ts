// The view of a machine that its operator is told. The shard's state fills it from its columns; labels and
// resources are the shape that the kubelet will register with, allocatable and never the
// per-replica request: that would cap a node at one pod.

import type { StateCode } from '@bigfleet/engine';

export interface NodeView {
  readonly machineId: string;
  readonly state: StateCode;
  /** Empty when unbound. */
  readonly cluster: string;
  /** The provider's reference of the host; empty when there is none. */
  readonly hostRef: string;
  readonly lastError: string;
  /** Empty when unknown. */
  readonly instanceType: string;
  readonly zone: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Quantity texts; the machine's resources when the provider published no allocatable. */
  readonly allocatable: ReadonlyMap<string, string>;
}

/** The inventory as sessions need it. */
export interface BoundMachines {
  /** Ids of the machines bound to the cluster, from the by-cluster index. */
  idsBoundTo(cluster: string): readonly string[];
  /** True for Configuring, Configured and Draining machines of this cluster. */
  isBoundTo(machineId: string, cluster: string): boolean;
  /** Undefined for an id that the inventory does not hold. */
  viewOf(machineId: string): NodeView | undefined;
}

// What an operator is told of a machine. Labels and resources are the shape that the kubelet will
// register with, allocatable and never the per-replica request: that would cap a node at one pod.

import type { Machine } from '@bigfleet/engine';

export type NodeView = Pick<
  Machine,
  | 'id'
  | 'state'
  | 'cluster'
  | 'host'
  | 'lastError'
  | 'instanceType'
  | 'zone'
  | 'labels'
  | 'allocatable'
>;

/** The inventory as sessions need it. */
export interface BoundMachines {
  /** Ids of the machines bound to the cluster, from the by-cluster index. */
  idsBoundTo(cluster: string): readonly string[];
  /** True for Configuring, Configured and Draining machines of this cluster. */
  isBoundTo(machineId: string, cluster: string): boolean;
  /** Undefined for an id that the inventory does not hold. */
  viewOf(machineId: string): NodeView | undefined;
}

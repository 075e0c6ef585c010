// Which machines each cluster holds, and how a machine looks to its operator. The index follows the
// applied changes, so that a resync of one cluster costs that cluster's machines and not the fleet.
//
// Bound: one entry per Configuring, Configured or Draining machine.

import { isBound } from '@bigfleet/engine';
import type { Fleet } from '../fleet/fleet.ts';
import type { NodeChange } from '../fleet/node-change.ts';
import type { BoundMachines, NodeView } from '../nodes/node-view.ts';

const NO_MACHINES: ReadonlySet<string> = new Set();

export class BoundMachineIndex implements BoundMachines {
  readonly #fleet: () => Fleet;
  readonly #byCluster = new Map<string, Set<string>>();

  /** The fleet reports its changes here, so it is made later. */
  constructor(fleet: () => Fleet) {
    this.#fleet = fleet;
  }

  changed({ machine, isRemoved, previousCluster }: NodeChange): void {
    const cluster = !isRemoved && isBound(machine.state) ? machine.cluster : '';
    if (previousCluster !== '' && previousCluster !== cluster) {
      this.#leave(previousCluster, machine.id);
    }
    if (cluster !== '') this.#join(cluster, machine.id);
  }

  countOf(cluster: string): number {
    return this.#byCluster.get(cluster)?.size ?? 0;
  }

  idsBoundTo(cluster: string): readonly string[] {
    return [...(this.#byCluster.get(cluster) ?? NO_MACHINES)];
  }

  isBoundTo(machineId: string, cluster: string): boolean {
    return this.#byCluster.get(cluster)?.has(machineId) ?? false;
  }

  viewOf(machineId: string): NodeView | undefined {
    const fleet = this.#fleet();
    const slot = fleet.inventory.slotOf(machineId);
    return slot < 0 ? undefined : fleet.read(slot);
  }

  #join(cluster: string, machineId: string): void {
    let ids = this.#byCluster.get(cluster);
    if (ids === undefined) {
      ids = new Set();
      this.#byCluster.set(cluster, ids);
    }
    ids.add(machineId);
  }

  #leave(cluster: string, machineId: string): void {
    const ids = this.#byCluster.get(cluster);
    ids?.delete(machineId);
    if (ids?.size === 0) this.#byCluster.delete(cluster);
  }
}

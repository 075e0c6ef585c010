// What the Pods of one cluster occupy on its machines, and which machine the next one takes:
// least allocated first, as a scheduler that spreads does it, ties by id.

import { compareText } from '@bigfleet/base';
import type { Machine, Resources } from '@bigfleet/engine';

export class NodeLoads {
  readonly #used = new Map<string, Map<string, number>>();

  place(node: Machine, perPod: Resources): void {
    const used = this.#used.get(node.id) ?? new Map<string, number>();
    for (const [name, value] of perPod) used.set(name, (used.get(name) ?? 0) + value);
    this.#used.set(node.id, used);
  }

  remove(machineId: string, perPod: Resources): void {
    const used = this.#used.get(machineId);
    if (used === undefined) return;
    for (const [name, value] of perPod) used.set(name, (used.get(name) ?? 0) - value);
  }

  /** Forgets machines that are gone. */
  keepOnly(present: ReadonlySet<string>): void {
    for (const id of this.#used.keys()) if (!present.has(id)) this.#used.delete(id);
  }

  /** The emptiest of these machines on which the Pod still fits. */
  emptiest(nodes: readonly Machine[], perPod: Resources): Machine | undefined {
    let best: Machine | undefined;
    let bestLoad = Number.POSITIVE_INFINITY;
    for (const node of nodes) {
      if (!this.#fits(node, perPod)) continue;
      const load = this.#load(node, perPod);
      const isBetter =
        load < bestLoad ||
        (load === bestLoad && best !== undefined && compareText(node.id, best.id) < 0);
      if (!isBetter) continue;
      best = node;
      bestLoad = load;
    }
    return best;
  }

  #fits(node: Machine, perPod: Resources): boolean {
    const used = this.#used.get(node.id);
    for (const [name, value] of perPod) {
      if ((used?.get(name) ?? 0) + value > (node.allocatable.get(name) ?? 0)) return false;
    }
    return true;
  }

  /** Sum of the used shares of what the Pod asks for. */
  #load(node: Machine, perPod: Resources): number {
    const used = this.#used.get(node.id);
    let load = 0;
    for (const name of perPod.keys()) {
      load += (used?.get(name) ?? 0) / (node.allocatable.get(name) ?? 1);
    }
    return load;
  }
}

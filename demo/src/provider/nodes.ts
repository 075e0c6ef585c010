// What runs on the simulated machines: a stand-in kubelet that joins the cluster of the bootstrap blob, as
// the cloud-init of a real machine would start a real one. One per cluster serves all of its machines here.

import { BigFleetError } from '@bigfleet/base';
import { INSTANCE_TYPE_KEY, ZONE_KEY } from '@bigfleet/engine';
import type { JoinResult, Kubelets } from '@bigfleet/kube/testing';
import type { MachineRecord } from '@bigfleet/providerkit';
import { providerIdOf } from '../places.ts';
import { allocatableOf } from './shapes.ts';

export interface JoinedNode {
  readonly clusterId: string;
  readonly nodeName: string;
}

export class MachineNodes {
  readonly #ender = new AbortController();
  readonly #kubelets: ReadonlyMap<string, Kubelets>;

  /** By cluster; the signal ends them. */
  constructor(kubelets: (signal: AbortSignal) => ReadonlyMap<string, Kubelets>) {
    this.#kubelets = kubelets(this.#ender.signal);
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#ender.abort(signal.reason), { once: true });
    await Promise.all([...this.#kubelets.values()].map((kubelets) => kubelets.run()));
  }

  /** Boots the machine with the blob: joined means that its Node is Ready. */
  async join(clusterId: string, machine: MachineRecord, blob: Uint8Array): Promise<JoinResult> {
    const kubelets = this.#kubelets.get(clusterId);
    if (kubelets === undefined) return { kind: 'refused', problem: `no cluster ${clusterId} here` };
    const shape = {
      name: nodeNameOf(machine.id),
      providerId: providerIdOf(machine.id),
      labels: {
        [INSTANCE_TYPE_KEY]: machine.instanceType,
        [ZONE_KEY]: machine.zone,
        ...Object.fromEntries(machine.labels),
      },
      allocatable: Object.fromEntries(allocatableOf(machine.instanceType) ?? []),
    };
    return await kubelets.join(shape, new TextDecoder().decode(blob)).catch(refusalOf);
  }

  /** The machine is switched off: its Node stays for the cluster to deal with. */
  silence({ clusterId, nodeName }: JoinedNode): void {
    this.#kubelets.get(clusterId)?.silence(nodeName);
  }

  /**
   * The machine is lost: the cloud's node controller takes its Node away, with its Pods. A cluster that
   * does not answer finds out later, as it would.
   */
  async leave({ clusterId, nodeName }: JoinedNode): Promise<void> {
    await this.#kubelets.get(clusterId)?.leave(nodeName).catch(refusalOf);
  }
}

function refusalOf(error: unknown): JoinResult {
  if (!(error instanceof BigFleetError)) throw error;
  return { kind: 'refused', problem: error.message };
}

/** `sim-north/Spot/m6i.large/zone-a/003` as Kubernetes allows it, without what all have in common. */
function nodeNameOf(machineId: string): string {
  return machineId.split('/').slice(1).join('-').toLowerCase();
}

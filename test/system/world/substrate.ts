// The hardware under the providers, which no crash of theirs touches: hosts, and which cluster each
// has joined. It is the last word on the two laws that matter most here: a machine serves at most
// one cluster, and nothing is bought or joined twice.

import type { Witness } from './witness.ts';

interface Host {
  readonly ref: string;
  cluster: string;
  joinedBy: string;
}

export interface NodeWatcher {
  nodeJoined(machineId: string): void;
  nodeLeft(machineId: string): void;
}

export class Substrate {
  readonly #witness: Witness;
  readonly #hosts = new Map<string, Host>();
  readonly #watchers = new Map<string, NodeWatcher>();

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  watch(cluster: string, watcher: NodeWatcher): void {
    this.#watchers.set(cluster, watcher);
  }

  hostRefOf(machineId: string): string | undefined {
    return this.#hosts.get(machineId)?.ref;
  }

  /** Empty when its host joined none, or there is no host. */
  clusterOf(machineId: string): string {
    return this.#hosts.get(machineId)?.cluster ?? '';
  }

  joinedMachines(): readonly string[] {
    return [...this.#hosts].filter(([, { cluster }]) => cluster !== '').map(([id]) => id);
  }

  /** Idempotent by operation, as cloud APIs are. */
  create(machineId: string, operationId: string): string {
    const ref = `i-${operationId}`;
    const known = this.#hosts.get(machineId);
    if (known?.ref === ref) return ref;
    if (known !== undefined) this.#witness.broken(`${machineId} got a second host`);
    this.#witness.step(`substrate create ${machineId}`);
    this.#hosts.set(machineId, { ref, cluster: '', joinedBy: '' });
    return ref;
  }

  /** False when there is no host. */
  join(machineId: string, cluster: string, operationId: string): boolean {
    const host = this.#hosts.get(machineId);
    if (host === undefined) return false;
    if (host.cluster !== '' && host.joinedBy !== operationId) {
      this.#witness.broken(`${machineId} joins ${cluster} while it serves ${host.cluster}`);
    }
    this.#witness.step(`substrate join ${machineId} ${cluster}`);
    host.cluster = cluster;
    host.joinedBy = operationId;
    this.#watchers.get(cluster)?.nodeJoined(machineId);
    return true;
  }

  leave(machineId: string): void {
    const host = this.#hosts.get(machineId);
    if (host === undefined || host.cluster === '') return;
    const { cluster } = host;
    this.#witness.step(`substrate leave ${machineId} ${cluster}`);
    host.cluster = '';
    this.#watchers.get(cluster)?.nodeLeft(machineId);
  }

  remove(machineId: string): void {
    if (!this.#hosts.has(machineId)) return;
    this.leave(machineId);
    this.#witness.step(`substrate remove ${machineId}`);
    this.#hosts.delete(machineId);
  }
}

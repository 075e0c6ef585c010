// One Pod on the stand-in node: its network, its volumes, its containers, what the API server hears of it.

import path from 'node:path';
import type { Api, Json } from '../api.ts';
import { type NetHost, type ProcessExit, unixMs } from '../../toolkit/index.ts';
import { ContainerOnNode, type Place } from './container-on-node.ts';
import { type PodObject, unsupported } from './pod.ts';
import { materialise } from './volumes.ts';

export interface PodSurroundings extends Omit<Place, 'namespace' | 'address' | 'volumes'> {
  readonly api: Api;
  readonly folder: string;
  readonly nodeAddress: string;
  readonly onProblem: (problem: string) => void;
}

export class PodOnNode {
  readonly object: PodObject;
  readonly netHost: NetHost;
  /** How each container ended when the Pod was told to go. */
  readonly exits: (ProcessExit | undefined)[] = [];
  readonly #around: PodSurroundings;
  readonly #startedAt = now();
  readonly #ender = new AbortController();
  readonly #running: Promise<void>;
  #containers: readonly ContainerOnNode[] = [];
  #reporting: Promise<void> = Promise.resolve();

  constructor(object: PodObject, netHost: NetHost, around: PodSurroundings) {
    this.object = object;
    this.netHost = netHost;
    this.#around = around;
    this.#running = this.#run();
  }

  get name(): string {
    return this.object.metadata.name;
  }

  get address(): string {
    return this.netHost.address;
  }

  get restartCount(): number {
    return this.#containers.reduce((sum, { state }) => sum + state.restartCount, 0);
  }

  get isReady(): boolean {
    return this.#containers.length > 0 && this.#containers.every(({ state }) => state.isReady);
  }

  describe(): string {
    return JSON.stringify(this.#containers.map(({ state }) => state));
  }

  get containers(): readonly ContainerOnNode[] {
    return this.#containers;
  }

  /** SIGTERM, and what follows; the object is gone when it resolves. */
  async end(): Promise<void> {
    this.#ender.abort();
    await this.#running;
    await this.#reporting;
    const { api } = this.#around;
    const { namespace, name, uid } = this.object.metadata;
    await api.delete(`/api/v1/namespaces/${namespace}/pods/${name}`, {
      gracePeriodSeconds: 0,
      preconditions: { uid },
    });
  }

  async #run(): Promise<void> {
    const { api, folder, onProblem, ...place } = this.#around;
    const { name, uid } = this.object.metadata;
    try {
      const missing = unsupported(this.object);
      if (missing !== undefined) throw new Error(`the stand-in kubelet cannot do ${missing}`);
      const volumes = await materialise(api, this.object, path.join(folder, 'pods', uid));
      const { address, namespace } = this.netHost;
      const here = { ...place, volumes, address, namespace };
      this.#containers = this.object.spec.containers.map(
        (container) => new ContainerOnNode(this.object, container, here, () => this.#report()),
      );
    } catch (error) {
      onProblem(`${name}: ${String(error)}`);
      return;
    }
    const { signal } = this.#ender;
    const running = this.#containers.map(async (container) => {
      this.exits.push(await container.run(signal));
    });
    await Promise.all(running);
  }

  /** One after the other: the last word is the newest. */
  #report(): void {
    const { onProblem } = this.#around;
    this.#reporting = this.#reporting
      .then(() => this.#write())
      .catch((error: unknown) => onProblem(`${this.name}: ${String(error)}`));
  }

  async #write(): Promise<void> {
    const { api, nodeAddress } = this.#around;
    const { namespace, name, uid } = this.object.metadata;
    const states = this.#containers.map(({ state }) => state);
    const isReady = states.every((state) => state.isReady);
    const isRunning = states.some((state) => state.isRunning || state.restartCount > 0);
    const condition = (type: string, isTrue: boolean): Json => ({
      type,
      status: isTrue ? 'True' : 'False',
      lastTransitionTime: now(),
    });
    const reply = await api.merge(`/api/v1/namespaces/${namespace}/pods/${name}/status`, {
      metadata: { uid },
      status: {
        phase: isRunning ? 'Running' : 'Pending',
        hostIP: nodeAddress,
        podIP: this.address,
        podIPs: [{ ip: this.address }],
        startTime: this.#startedAt,
        conditions: [
          condition('PodScheduled', true),
          condition('Initialized', true),
          condition('ContainersReady', isReady),
          condition('Ready', isReady),
        ],
        containerStatuses: this.#containers.map(({ object, state }) => ({
          name: object.name,
          image: object.image,
          imageID: '',
          ready: state.isReady,
          started: state.isStarted,
          restartCount: state.restartCount,
          state: state.isRunning
            ? { running: { startedAt: this.#startedAt } }
            : { waiting: { reason: 'CrashLoopBackOff', message: state.lastExit } },
        })),
      },
    });
    // Gone, or another Pod of that name by now.
    if (reply.status >= 300 && reply.status !== 404 && reply.status !== 409) {
      throw new Error(reply.text);
    }
  }
}

function now(): string {
  return new Date(unixMs()).toISOString().replace(/\.\d+Z$/, 'Z');
}

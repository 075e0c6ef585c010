// One Pod on the stand-in node: its network, its volumes, its containers, what the API server hears of it.

import path from 'node:path';
import type { Api, Json, Reply } from '../api.ts';
import { type NetHost, type ProcessExit, sleep, unixMs } from '../../toolkit/index.ts';
import { ContainerOnNode, type Place } from './container-on-node.ts';
import { type PodObject, unsupported } from './pod.ts';
import { rest } from './probe.ts';
import { materialise } from './volumes.ts';

export interface PodSurroundings extends Omit<Place, 'namespace' | 'address' | 'volumes'> {
  readonly api: Api;
  readonly folder: string;
  readonly nodeAddress: string;
  readonly onProblem: (problem: string) => void;
}

const RETRY_MS = 1_000;
const WRITE_TRIES = 5;
const NOT_FOUND = 404;
const CONFLICT = 409;

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
  /** Why no container runs yet. */
  #waitsFor = '';
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
    const states = JSON.stringify(this.#containers.map(({ state }) => state));
    return this.#waitsFor === '' ? states : `waits: ${this.#waitsFor}`;
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
    await written(() =>
      api.delete(`/api/v1/namespaces/${namespace}/pods/${name}`, {
        gracePeriodSeconds: 0,
        preconditions: { uid },
      }),
    );
  }

  async #run(): Promise<void> {
    const missing = unsupported(this.object);
    if (missing !== undefined) {
      this.#around.onProblem(`${this.name}: the stand-in kubelet cannot do ${missing}`);
      return;
    }
    const volumes = await this.#volumes();
    if (volumes === undefined) return;
    const { address, namespace } = this.netHost;
    const here = { ...this.#around, volumes, address, namespace };
    this.#containers = this.object.spec.containers.map(
      (container) => new ContainerOnNode(this.object, container, here, () => this.#report()),
    );
    const { signal } = this.#ender;
    const running = this.#containers.map(async (container) => {
      this.exits.push(await container.run(signal));
    });
    await Promise.all(running);
  }

  /** Tried until they are there, as a kubelet does: a ConfigMap may come late. Undefined: the Pod is to go. */
  async #volumes(): Promise<ReadonlyMap<string, string> | undefined> {
    const { api, folder } = this.#around;
    const { signal } = this.#ender;
    const own = path.join(folder, 'pods', this.object.metadata.uid);
    while (!signal.aborted) {
      try {
        const made = await materialise(api, this.object, own);
        this.#waitsFor = '';
        return made;
      } catch (error) {
        this.#waitsFor = String(error);
        await rest(RETRY_MS, signal);
      }
    }
    return undefined;
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
    const body = {
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
    };
    await written(() => api.merge(`/api/v1/namespaces/${namespace}/pods/${name}/status`, body));
  }
}

/** Asked again when the request or its answer is lost: both writes of a Pod may be repeated. */
async function written(ask: () => Promise<Reply>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      const { status, text } = await ask();
      // Gone, or another Pod of that name by now.
      if (status < 300 || status === NOT_FOUND || status === CONFLICT) return;
      throw new Error(text);
    } catch (error) {
      if (tried === WRITE_TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function now(): string {
  return new Date(unixMs()).toISOString().replace(/\.\d+Z$/, 'Z');
}

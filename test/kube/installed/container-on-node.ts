// One container of a Pod: started, probed, started again when it ends or hangs, ended with SIGTERM.

import path from 'node:path';
import type { Container } from '../images/container.ts';
import type { ContainerHost } from '../images/container-host.ts';
import { describeExit, type ProcessExit } from '../../toolkit/index.ts';
import type { Names } from './names.ts';
import {
  confinement,
  type ContainerObject,
  environmentOf,
  expanded,
  type PodObject,
  type ProbeObject,
} from './pod.ts';
import { checkOf, rest, runProbe } from './probe.ts';

/** Where it runs. */
export interface Place {
  readonly host: ContainerHost;
  readonly names: Names;
  /** Network namespace of the Pod, and its address there. */
  readonly namespace: string;
  readonly address: string;
  /** How a Pod is told of the API server. */
  readonly serviceEnvironment: ReadonlyMap<string, string>;
  /** Volume name → folder. */
  readonly volumes: ReadonlyMap<string, string>;
  readonly logFolder: string;
  readonly etcFolder: string;
}

export interface ContainerState {
  isRunning: boolean;
  isStarted: boolean;
  isReady: boolean;
  restartCount: number;
  lastExit: string;
}

const LOOK_MS = 50;
const RESTART_PAUSE_MS = 1_000;
const GRACE_SECONDS = 30;

export class ContainerOnNode {
  readonly object: ContainerObject;
  readonly state: ContainerState = {
    isRunning: false,
    isStarted: false,
    isReady: false,
    restartCount: 0,
    lastExit: '',
  };
  readonly #pod: PodObject;
  readonly #place: Place;
  readonly #changed: () => void;
  #container: Container | undefined;

  constructor(pod: PodObject, object: ContainerObject, place: Place, changed: () => void) {
    this.#pod = pod;
    this.object = object;
    this.#place = place;
    this.#changed = changed;
  }

  get container(): Container {
    if (this.#container === undefined) throw new Error(`${this.#label} does not run`);
    return this.#container;
  }

  get logFile(): string {
    return path.join(this.#place.logFolder, `${this.#label}.log`);
  }

  /** Until the signal aborts; how it ended then, undefined when it did not run. */
  async run(signal: AbortSignal): Promise<ProcessExit | undefined> {
    for (;;) {
      const exit = await this.#live(signal).catch((error: unknown) => String(error));
      Object.assign(this.state, { isRunning: false, isStarted: false, isReady: false });
      this.state.lastExit = typeof exit === 'object' ? describeExit(exit) : (exit ?? '');
      if (signal.aborted) return typeof exit === 'object' ? exit : undefined;
      this.state.restartCount += 1;
      this.#changed();
      await rest(RESTART_PAUSE_MS, signal);
    }
  }

  /** From its start to its end. */
  async #live(signal: AbortSignal): Promise<ProcessExit> {
    const life = new AbortController();
    const either = AbortSignal.any([signal, life.signal]);
    await using container = await this.#start();
    this.#container = container;
    this.state.isRunning = true;
    const probes = this.#probe(either, () => {
      // A hang that a test makes lasts until the test ends it, however slow the machine: no liveness probe
      // comes first.
      if (!container.isStopped) life.abort();
    });
    this.#changed();
    try {
      while (container.exit === undefined && !either.aborted) await rest(LOOK_MS, either);
      return await container.stop();
    } finally {
      life.abort();
      this.#container = undefined;
      await probes;
    }
  }

  /** The other probes wait for the start-up probe. */
  async #probe(signal: AbortSignal, restart: () => void): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.object;
    if (startupProbe !== undefined) {
      const begun = new AbortController();
      await this.#repeat(startupProbe, AbortSignal.any([signal, begun.signal]), (isGood) => {
        if (isGood) begun.abort();
        else restart();
      });
    }
    if (signal.aborted) return;
    this.state.isStarted = true;
    if (readinessProbe === undefined) this.state.isReady = true;
    this.#changed();
    await Promise.all([
      readinessProbe === undefined
        ? undefined
        : this.#repeat(readinessProbe, signal, (isGood) => {
            if (this.state.isReady === isGood) return;
            this.state.isReady = isGood;
            this.#changed();
          }),
      livenessProbe === undefined
        ? undefined
        : this.#repeat(livenessProbe, signal, (isGood) => {
            if (!isGood) restart();
          }),
    ]);
  }

  #repeat(
    probe: ProbeObject,
    signal: AbortSignal,
    decided: (isGood: boolean) => void,
  ): Promise<void> {
    const check = checkOf(probe, this.object, this.#place.address);
    return runProbe({ probe, check, decided, signal });
  }

  #start(): Promise<Container> {
    const { host, names, namespace, serviceEnvironment, volumes, etcFolder } = this.#place;
    const { image, command, args = [], volumeMounts = [] } = this.object;
    const env = new Map([...serviceEnvironment, ...environmentOf(this.#pod, this.object)]);
    const mounts = volumeMounts.map(({ name, mountPath, readOnly }) => {
      const folder = volumes.get(name);
      if (folder === undefined)
        throw new Error(`${this.#label} mounts ${name}, which is not there`);
      return `--volume=${folder}:${mountPath}${readOnly === true ? ':ro' : ''}`;
    });
    return host.startInPod({
      name: this.#label,
      image,
      podmanArgs: [
        `--network=ns:/run/netns/${namespace}`,
        `--hostname=${this.#pod.metadata.name}`,
        '--no-hosts',
        '--dns=none',
        `--volume=${names.file}:/etc/hosts:ro`,
        `--volume=${etcFolder}/nsswitch.conf:/etc/nsswitch.conf:ro`,
        `--volume=${etcFolder}/host.conf:/etc/host.conf:ro`,
        ...confinement(this.#pod, this.object),
        ...Array.from(env, ([name, value]) => `--env=${name}=${value}`),
        ...mounts,
        ...(command === undefined ? [] : [`--entrypoint=${JSON.stringify(command)}`]),
      ],
      args: args.map((one) => expanded(one, env)),
      logFile: this.logFile,
      graceMs: (this.#pod.spec.terminationGracePeriodSeconds ?? GRACE_SECONDS) * 1_000,
    });
  }

  get #label(): string {
    const { name, uid } = this.#pod.metadata;
    return `${name}-${uid.slice(0, 8)}-${this.object.name}`;
  }
}

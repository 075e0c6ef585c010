// A cluster without Kubernetes under the real session client: nodes appear when their machine is
// Configured, a drain empties one after a moment, requests come from the population. It schedules no
// pods: what is covered is the shard's to say, and the view shows that.

import type { UpcomingNodePhase } from '@bigfleet/kube';
import { type Random, type Runtime, sleep } from '@bigfleet/base';
import type {
  BootstrapResult,
  ClusterObserver,
  ClusterPort,
  CordonOutcome,
  DemandIndex,
  DrainControl,
  DrainOutcome,
  DrainTarget,
  NodeLink,
  RequestRef,
} from '@bigfleet/operator';
import { Secret } from '@bigfleet/telemetry';
import { MachineState, type NodeStateUpdate } from '@bigfleet/wire';
import type { Population } from './population.ts';

/** How long pods take to leave a node. */
const EVICTION_MS: readonly [lo: number, hi: number] = [200, 900];
const BLOB_TTL_SECONDS = 600;

export interface DemoClusterOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly population: Population;
}

export class DemoCluster implements ClusterPort {
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #population: Population;
  readonly #nodes = new Map<string, NodeLink>();
  #observer: ClusterObserver | undefined;

  constructor({ runtime, random, population }: DemoClusterOptions) {
    this.#runtime = runtime;
    this.#random = random;
    this.#population = population;
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  /** Lets the workloads live on for a moment. */
  live(): void {
    this.#population.step(this.#runtime.clock.monotonicMs());
    this.#observer?.demandChanged();
  }

  demand(): DemandIndex {
    return this.#population.index;
  }

  async acknowledge({ uid }: RequestRef): Promise<'acknowledged' | 'gone'> {
    return this.#population.acknowledge(uid);
  }

  /** The population asserts that none is. */
  requestRefused(): void {}

  renderBootstrap(): BootstrapResult {
    const userData = new Secret(new TextEncoder().encode('#!/bin/sh\n# joins the demo\n'));
    return { kind: 'rendered', userData, ttlSeconds: BLOB_TTL_SECONDS };
  }

  async applyNodeState({ machineId, state }: NodeStateUpdate): Promise<UpcomingNodePhase> {
    if (state === MachineState.CONFIGURED) this.#join(machineId);
    else if (state !== MachineState.DRAINING) this.#leave(machineId);
    return phases.get(state) ?? 'Provisioning';
  }

  async applyAvailableCapacity(): Promise<void> {}

  async sweepMachines(known: ReadonlySet<string>): Promise<void> {
    for (const machineId of this.#nodes.keys()) if (!known.has(machineId)) this.#leave(machineId);
  }

  async sweepAvailableCapacity(): Promise<void> {}

  async cordon(target: DrainTarget): Promise<CordonOutcome> {
    return this.#find(target) === undefined ? { kind: 'not_found' } : { kind: 'cordoned' };
  }

  async drain(target: DrainTarget, { signal }: DrainControl): Promise<DrainOutcome> {
    if (this.#find(target) === undefined) return { kind: 'node_not_found' };
    const [lo, hi] = EVICTION_MS;
    try {
      await sleep(this.#runtime, lo + this.#random.float() * (hi - lo), signal);
      return { kind: 'empty' };
    } catch (error) {
      if (!signal.aborted) throw error;
      return { kind: 'deadline', podsRemaining: 1 };
    }
  }

  interruptedDrains(): readonly [] {
    return [];
  }

  nodeLinks(): Iterable<NodeLink> {
    return this.#nodes.values();
  }

  watch(observer: ClusterObserver): () => void {
    this.#observer = observer;
    return () => {
      this.#observer = undefined;
    };
  }

  #join(machineId: string): void {
    if (this.#nodes.has(machineId)) return;
    const nodeName = machineId.replaceAll('/', '-').toLowerCase();
    const link = { machineId, nodeName, providerId: `demo://${machineId}`, nodeUid: nodeName };
    this.#nodes.set(machineId, link);
    this.#observer?.nodeLinked(link);
  }

  #leave(machineId: string): void {
    if (this.#nodes.delete(machineId)) this.#observer?.nodeUnlinked(machineId);
  }

  #find({ node, machineId }: DrainTarget): NodeLink | undefined {
    const byId = this.#nodes.get(machineId) ?? this.#nodes.get(node);
    return byId ?? [...this.#nodes.values()].find(({ nodeName }) => nodeName === node);
  }
}

const phases: ReadonlyMap<MachineState, UpcomingNodePhase> = new Map([
  [MachineState.CREATING, 'Provisioning'],
  [MachineState.CONFIGURING, 'Launched'],
  [MachineState.CONFIGURED, 'Ready'],
  [MachineState.DRAINING, 'Draining'],
  [MachineState.IDLE, 'Drained'],
  [MachineState.DELETING, 'Drained'],
  [MachineState.SPECULATIVE, 'Drained'],
  [MachineState.FAILED, 'Failed'],
]);

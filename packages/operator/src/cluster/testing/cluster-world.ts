// A cluster on the test API server behind the production port, under virtual time, with a stand-in for
// the kubelet's part in ending Pods.

import assert from 'node:assert/strict';
import { PODS_PATH, REQUESTS_PATH, TestWorld } from '@bigfleet/kube/testing';
import { Secret } from '@bigfleet/telemetry';
import {
  BootstrapRequestSchema,
  decode,
  encodeInit,
  MachineState,
  type NodeStateUpdate,
  NodeStateUpdateSchema,
} from '@bigfleet/wire';
import type { DrainControl } from '../../session/cluster-port.ts';
import { KubeCluster } from '../kube-cluster.ts';

export const NODES_PATH = '/api/v1/nodes';
export const OURS = '/apis/bigfleet.lucy.sh/v1alpha1';

export class ClusterWorld extends TestWorld {
  readonly writes: string[] = [];
  readonly evictions: string[] = [];
  readonly chores: string[] = [];
  readonly relists: string[] = [];
  readonly failures: string[] = [];
  cluster: KubeCluster;

  constructor(seed = '1') {
    super(seed);
    this.cluster = this.#start();
  }

  /** Another process, after the one before was killed. */
  async restart(): Promise<void> {
    this.cluster = this.#start();
    await this.time.runFor(2_000);
  }

  stop(): void {
    this.kill();
  }

  #start(): KubeCluster {
    const { runtime } = this.time;
    const client = this.restarted('bigfleet-operator');
    const cluster = new KubeCluster({
      runtime,
      client,
      signal: this.signal,
      renderBootstrap: () => ({
        kind: 'rendered',
        userData: new Secret(new Uint8Array()),
        ttlSeconds: 0,
      }),
      hooks: {
        heard: () => {},
        relisted: (resource, reason) => this.relists.push(`${resource} ${reason}`),
        reflectorFailed: (resource, { code }) => this.failures.push(`${resource} ${code}`),
        upcomingNodeWritten: (op, outcome) => this.writes.push(`${op} ${outcome}`),
        evicted: (outcome) => this.evictions.push(outcome),
        evictionFailed: () => {},
        choreFailed: (problem) => this.chores.push(problem),
        drainGivenUp: (machineId) => this.chores.push(`given up ${machineId}`),
        leftOverKept: (machineId) => this.chores.push(`kept ${machineId}`),
      },
    });
    void cluster.run().catch((bug: unknown) => assert.fail(String(bug)));
    return cluster;
  }

  // ── the cluster from outside ────────────────────────────────────────────────────────────

  request(name: string, spec: object = {}, labels: object = {}): void {
    this.ask('POST', REQUESTS_PATH, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name, labels },
      spec: { priority: 5, resources: { cpu: '1' }, ...spec },
    });
  }

  /** A Node that its kubelet registered, Ready. */
  node(name: string, more: { machine?: string; providerID?: string } = {}): void {
    const labels =
      more.machine === undefined ? {} : { 'bigfleet.lucy.sh/machine-id': more.machine };
    this.ask('POST', NODES_PATH, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      spec: { providerID: more.providerID },
    });
    this.merge(`${NODES_PATH}/${name}/status`, {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  pod(name: string, node: string, metadata: object = {}): void {
    this.ask('POST', PODS_PATH, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...metadata },
      spec: { nodeName: node, containers: [{ name: 'c', image: 'a' }] },
    });
    this.merge(`${PODS_PATH}/${name}/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  budget(name: string, labels: object, minAvailable: number): void {
    this.ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name },
      spec: { minAvailable, selector: { matchLabels: labels } },
    });
  }

  /** What kubelets do all the time: Pods that were told to end, end. */
  async live(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.time.runFor(Math.min(1_000, left));
      for (const { metadata } of this.list(PODS_PATH)) {
        if (metadata.deletionTimestamp === undefined) continue;
        this.ask('DELETE', `${PODS_PATH}/${metadata.name}`, { gracePeriodSeconds: 0 });
      }
    }
  }

  // ── the shard ───────────────────────────────────────────────────────────────────────────

  async frame(machineId: string, state: MachineState, more: object = {}): Promise<string> {
    const pending = this.cluster.applyNodeState(nodeState(machineId, state, more), this.signal);
    await Promise.allSettled([pending, this.time.runFor(3_000)]);
    return pending;
  }

  askForBlob(machineId: string): void {
    const request = encodeInit(BootstrapRequestSchema, { requestId: 'b1', machineId });
    this.cluster.renderBootstrap(decode(BootstrapRequestSchema, request, 'INTERNAL'));
  }

  control(graceMs: number): DrainControl {
    const { clock, timers } = this.time.runtime;
    const deadline = clock.monotonicMs() + graceMs;
    const ender = new AbortController();
    timers.after(graceMs, () => ender.abort(new Error('the grace is over')));
    return {
      instructionId: 'i1',
      signal: ender.signal,
      remainingMs: () => Math.max(0, deadline - clock.monotonicMs()),
      isInterrupted: false,
    };
  }

  nowUnixMs(): number {
    return Number(this.time.runtime.clock.unixNanos() / 1_000_000n);
  }
}

export async function started(): Promise<ClusterWorld> {
  const world = new ClusterWorld();
  await world.time.runFor(2_000);
  return world;
}

/** Machine `m1` serves as Node `node-a`. */
export async function served(world: ClusterWorld): Promise<void> {
  await world.frame('m1', MachineState.CONFIGURING);
  world.node('node-a', { machine: 'm1' });
  await world.frame('m1', MachineState.CONFIGURED);
}

function nodeState(machineId: string, state: MachineState, more: object = {}): NodeStateUpdate {
  const frame = encodeInit(NodeStateUpdateSchema, { machineId, state, ...more });
  return decode(NodeStateUpdateSchema, frame, 'INTERNAL');
}

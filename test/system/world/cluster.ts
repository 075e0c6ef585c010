// A cluster as its API server keeps it: requests, nodes, cordons. It outlives its operator, so a
// restarted one finds the demand and the drains that the last one began. Everything that its port
// does on behalf of a process takes that process's time.

import { sleep } from '@bigfleet/base';
import {
  type ClusterObserver,
  type ClusterPort,
  DemandIndex,
  type DrainTarget,
  type InterruptedDrain,
  type NodeLink,
} from '@bigfleet/operator';
import { Secret } from '@bigfleet/telemetry';
import type { Life } from './life.ts';
import type { NodeWatcher } from './substrate.ts';

/** Every request is for one whole machine. */
export const CORES_PER_MACHINE = 4;
const LONGEST_EVICTION_MS = 1_200;
const BLOB_TTL_SECONDS = 600;

export class Cluster implements NodeWatcher {
  readonly id: string;
  readonly #index = new DemandIndex();
  /** By priority: requests that exist now. */
  readonly #wanted = new Map<number, number>();
  readonly #nodes = new Map<string, NodeLink>();
  readonly #draining = new Map<string, InterruptedDrain>();
  #observer: ClusterObserver | undefined;
  #versionCount = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Machines that it wants, all priorities together. */
  get wantedCount(): number {
    return [...this.#wanted.values()].reduce((sum, count) => sum + count, 0);
  }

  get nodeCount(): number {
    return this.#nodes.size;
  }

  want(count: number, priority: number): void {
    const before = this.#wanted.get(priority) ?? 0;
    this.#wanted.set(priority, count);
    for (let i = 0; i < Math.max(before, count); i++) {
      const uid = `${this.id}-${priority}-${i}`;
      if (i >= count) this.#index.delete(uid);
      else if (i >= before) this.#request(uid, priority);
    }
    this.#observer?.demandChanged();
  }

  nodeJoined(machineId: string): void {
    const link = {
      machineId,
      nodeName: `n-${machineId}`,
      providerId: machineId,
      nodeUid: machineId,
    };
    this.#nodes.set(machineId, link);
    this.#observer?.nodeLinked(link);
  }

  nodeLeft(machineId: string): void {
    this.#draining.delete(machineId);
    if (this.#nodes.delete(machineId)) this.#observer?.nodeUnlinked(machineId);
  }

  /** For one life of its operator. */
  port(life: Life): ClusterPort {
    const random = life.runtime.random.stream('evictions');
    return {
      demand: () => this.#index,
      acknowledge: async () => 'acknowledged',
      requestRefused: ({ refusal }) => {
        throw new Error(`a plain request was refused: ${refusal.problem}`);
      },
      renderBootstrap: () => ({
        kind: 'rendered',
        userData: new Secret(new TextEncoder().encode(`join ${this.id}`)),
        ttlSeconds: BLOB_TTL_SECONDS,
      }),
      applyNodeState: async () => 'Ready',
      applyAvailableCapacity: async () => {},
      sweepMachines: async () => {},
      sweepAvailableCapacity: async () => {},
      cordon: async (target, { instructionId, deadlineUnixMs }) => {
        const node = this.#find(target);
        if (node === undefined || life.isOver) return { kind: 'not_found' };
        const drain = { target, instructionId, deadlineUnixMs };
        this.#draining.set(node.machineId, drain);
        return { kind: 'cordoned' };
      },
      drain: async (target, { signal }) => {
        if (this.#find(target) === undefined) return { kind: 'node_not_found' };
        try {
          await sleep(life.runtime, random.below(LONGEST_EVICTION_MS), signal);
          return { kind: 'empty' };
        } catch (error) {
          if (!signal.aborted) throw error;
          return { kind: 'deadline', podsRemaining: 1 };
        }
      },
      interruptedDrains: () => [...this.#draining.values()],
      nodeLinks: () => this.#nodes.values(),
      nodeLinkOf: () => undefined,
      phantomMachineIds: () => [],
      watch: (observer) => {
        this.#observer = observer;
        return () => {
          if (this.#observer === observer) this.#observer = undefined;
        };
      },
    };
  }

  #find({ node, machineId }: DrainTarget): NodeLink | undefined {
    const known = this.#nodes.get(machineId);
    return known ?? [...this.#nodes.values()].find(({ nodeName }) => nodeName === node);
  }

  #request(uid: string, priority: number): void {
    this.#versionCount += 1;
    this.#index.set({
      namespace: 'default',
      name: uid,
      uid,
      resourceVersion: String(this.#versionCount),
      isForeign: false,
      isAcknowledged: false,
      spec: { resources: { cpu: String(CORES_PER_MACHINE) }, priority },
    });
  }
}

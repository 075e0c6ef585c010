// Stands at the shard's door and notes which demand each cluster really told this life of the
// shard: the only thing that may justify a reclaim. It reads the wire, not the shard.

import {
  type ByteRouter,
  type ClusterCapacityNeeds,
  decode,
  OperatorMessageSchema,
} from '@bigfleet/wire';
import { CORES_PER_MACHINE } from './cluster.ts';

interface HeardDemand {
  readonly atMs: number;
  readonly machineCount: number;
}

/** What a cycle may have in its table although something newer has come since. */
const LAG_MS = 250;

export class Ear {
  readonly #nowMs: () => number;
  readonly #heard = new Map<string, HeardDemand[]>();
  readonly #priorities = new Set<number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  hasHeard(cluster: string): boolean {
    return this.#heard.has(cluster);
  }

  hasHeardPriority(priority: number): boolean {
    return this.#priorities.has(priority);
  }

  /** The least that a cycle which began then can have thought that the cluster wants. */
  leastSince(cluster: string, sinceMs: number): number {
    const heard = this.#heard.get(cluster) ?? [];
    const old = heard.filter(({ atMs }) => atMs <= sinceMs - LAG_MS).slice(-1);
    const fresh = heard.filter(({ atMs }) => atMs > sinceMs - LAG_MS);
    return Math.min(...[...old, ...fresh].map(({ machineCount }) => machineCount));
  }

  router(inner: ByteRouter): ByteRouter {
    return {
      find: (path) => {
        const method = inner.find(path);
        if (method?.kind !== 'stream') return method;
        return {
          kind: 'stream',
          handle: (requests, call) => method.handle(this.#overhear(requests), call),
        };
      },
    };
  }

  #overhear(requests: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = requests[Symbol.asyncIterator]();
        return {
          next: async () => {
            const step = await iterator.next();
            if (step.done !== true) this.#frame(step.value);
            return step;
          },
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  }

  #frame(bytes: Uint8Array): void {
    const { payload } = decode(OperatorMessageSchema, bytes, 'INVALID_ARGUMENT');
    if (payload.case === 'rollup') this.#rollup(payload.value);
  }

  #rollup({ clusterId, needs }: ClusterCapacityNeeds): void {
    let cores = 0;
    for (const { aggregateResources, priority } of needs) {
      cores += Number(aggregateResources['cpu'] ?? 0);
      this.#priorities.add(priority);
    }
    const heard = this.#heard.get(clusterId) ?? [];
    heard.push({ atMs: this.#nowMs(), machineCount: cores / CORES_PER_MACHINE });
    this.#heard.set(clusterId, heard);
  }
}

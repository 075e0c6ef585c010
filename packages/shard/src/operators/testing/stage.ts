// A shard's operator side under virtual time, served over the in-memory transport behind the real
// router and gate. One link per cluster host, so that a test can cut or slow one operator.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import {
  type Channel,
  createGate,
  encodeInit,
  ClusterCapacityNeedsSchema,
  type PeerIdentity,
  Router,
  sanOf,
  Shard,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import type { FiredDrain } from '../../drain/drain-waits.ts';
import { createOperators, type Operators, type OperatorsOptions } from '../operators.ts';
import { FakeMachines } from './fake-machines.ts';
import { FakeEngine } from './fake-engine.ts';
import { metricValue } from '../../session/testing/metric-reader.ts';
import { TestOperator } from '../../session/testing/test-operator.ts';

const ADDRESS = 'shard:7780';
const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };
/** A dozen packets there and back. */
const SETTLE_MS = 25;

export interface StageOptions {
  readonly transport?: 'plaintext' | 'mtls';
  readonly requireSessionCn?: boolean;
  readonly options?: Partial<OperatorsOptions>;
}

export class Stage {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly log: CapturedLog = captureSink();
  readonly registry: MetricRegistry = createRegistry();
  readonly machines: FakeMachines = new FakeMachines();
  readonly engine: FakeEngine = new FakeEngine();
  readonly fired: FiredDrain[] = [];
  readonly changedDemand: string[] = [];
  readonly bugs: unknown[] = [];
  readonly operators: Operators;
  coordinatorTerm = 7n;
  /** Every provider was listed. */
  isInventoryWhole = true;

  constructor(seed: string, { transport = 'plaintext', ...rest }: StageOptions = {}) {
    this.time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    const { runtime } = this.time;
    this.network = createMemoryNetwork({
      runtime,
      faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
    });
    this.operators = createOperators({
      runtime,
      registry: this.registry,
      logger: createLogger({ clock: runtime.clock, sink: this.log }),
      identityPolicy: { transport, requireSessionCn: rest.requireSessionCn ?? false },
      machines: this.machines,
      isInventoryWhole: () => this.isInventoryWhole,
      demand: this.machines,
      engine: this.engine,
      isGuarded: () => true,
      demandApplied: (cluster) => this.changedDemand.push(cluster),
      drainFired: (drain) => this.fired.push(drain),
      ackStamp: () => ({ coordinatorTerm: this.coordinatorTerm, shardEpoch: 3n }),
      supervise: (_component, work) => {
        work.then(undefined, (error: unknown) => this.bugs.push(error));
      },
      ...rest.options,
    });
    const router = new Router({
      gate: createGate({ transport, onDenied: this.operators.onRoleDenied }),
      onPanic: (_path, error) => this.bugs.push(error),
    }).add(Shard, this.operators.handlers);
    this.network.listen(ADDRESS, router);
  }

  channel(from: string, identity?: PeerIdentity): Channel {
    return this.network.connect({
      from,
      to: ADDRESS,
      ...(identity === undefined ? {} : { identity }),
    });
  }

  /** A stream on a connection of its own; nothing is sent yet. */
  dial(from: string, identity?: PeerIdentity): TestOperator {
    return new TestOperator(this.channel(from, identity));
  }

  /** An operator that has said hello and heard the answer. */
  async connect(cluster: string, extensions: readonly string[] = ALL): Promise<TestOperator> {
    const operator = this.dial(cluster).hello(cluster, extensions);
    await this.settle();
    assert.equal(operator.echoes[0], 'hello', `${cluster} is not connected`);
    return operator;
  }

  /** Lets frames that are under way arrive and be answered. */
  settle(): Promise<void> {
    return this.time.runFor(SETTLE_MS);
  }

  metric(name: string, labels = ''): Promise<number> {
    return metricValue(this.registry, `bigfleet_shard_${name}`, labels);
  }

  logged(text: string): string[] {
    return this.log.lines.filter((line) => line.includes(text));
  }

  /** No handler or background work failed in a way that no peer can cause. */
  assertNoBugs(): void {
    assert.deepEqual(this.bugs, []);
  }
}

export const ALL: readonly string[] = ['reclaim-completion', 'node-identity'];

export function clusterIdentity(cluster: string, commonName?: string): PeerIdentity {
  const san = sanOf('cluster', cluster);
  return { kind: 'verified', role: 'cluster', id: cluster, san, commonName };
}

export interface RollupShape {
  readonly clusterId?: string;
  readonly timestamp?: bigint;
  readonly needCount?: number;
  /** Distinguishes roll-ups of the same size. */
  readonly cpu?: string;
}

/** For the session's `rollup` payload. */
export function rollup(shape: RollupShape = {}): {
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  readonly needs: { readonly priority: number; readonly aggregateResources: { cpu: string } }[];
} {
  const { clusterId = '', timestamp = 1n, needCount = 1, cpu = '1' } = shape;
  const needs = Array.from({ length: needCount }, (_, priority) => ({
    priority,
    aggregateResources: { cpu },
  }));
  return { clusterId, timestampUnixNanos: timestamp, needs };
}

export function rollupBytes(shape: RollupShape = {}): Uint8Array {
  return encodeInit(ClusterCapacityNeedsSchema, rollup(shape));
}

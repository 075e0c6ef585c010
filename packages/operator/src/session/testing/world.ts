// One operator session and one scripted shard on the in-memory transport, under virtual time. Closing
// it stops the operator and checks that every timer, call and connection was given back.

import assert from 'node:assert/strict';
import {
  type ClusterId,
  createVirtualRuntime,
  type Runtime,
  type VirtualRuntime,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import type { Channel } from '@bigfleet/wire';
import {
  createMemoryNetwork,
  type FaultPlan,
  type MemoryNetwork,
  type MemorySettings,
} from '@bigfleet/wire/memory';
import { createOperatorMetrics } from '../metrics.ts';
import { OperatorSession } from '../operator-session.ts';
import type { SessionSettings } from '../settings.ts';
import { ScriptedShard } from './scripted-shard.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

export interface WorldOptions {
  readonly seed?: string;
  readonly settings?: Partial<SessionSettings>;
  readonly network?: Partial<MemorySettings>;
  readonly faults?: FaultPlan;
  readonly dial?: (usual: () => Channel) => Channel;
}

const QUIET = { maxEvents: 1_000_000, maxMs: 3_600_000 };

export class World {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly shard: ScriptedShard = new ScriptedShard();
  readonly cluster: SimulatedCluster;
  readonly operator: OperatorSession;
  readonly log: CapturedLog = captureSink();
  readonly registry: MetricRegistry = createRegistry();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: WorldOptions = {}) {
    this.time = createVirtualRuntime({ seed: options.seed ?? 'operator', drain: drainMicrotasks });
    const { runtime } = this.time;
    const { faults, network: settings = {} } = options;
    this.network = createMemoryNetwork({
      runtime: this.time.runtimeFor('network'),
      settings,
      ...(faults === undefined ? {} : { faults }),
    });
    this.network.listen('shard:7780', this.shard.router);
    this.cluster = new SimulatedCluster(runtime);
    const usual = (): Channel => this.network.connect({ from: 'operator', to: 'shard:7780' });
    const { dial } = options;
    this.operator = this.createOperator(runtime, {
      settings: options.settings ?? {},
      dial: dial === undefined ? usual : () => dial(usual),
    });
  }

  /** A second operator for the same cluster may be made, too. */
  createOperator(
    runtime: Runtime,
    { settings, dial }: { settings: Partial<SessionSettings>; dial: () => Channel },
  ): OperatorSession {
    return new OperatorSession({
      runtime,
      clusterId: 'eu-1' as ClusterId,
      cluster: this.cluster,
      dial,
      metrics: createOperatorMetrics(this.registry),
      logger: createLogger({ clock: runtime.clock, sink: this.log, level: 'debug' }),
      settings,
    });
  }

  start(): void {
    this.#running = this.operator.run(this.#stop.signal);
  }

  /** Starts on the first call. */
  async run(ms: number): Promise<void> {
    if (this.#running === undefined) this.start();
    await this.time.runFor(ms);
  }

  stop(): void {
    this.#stop.abort(new Error('the test is over'));
  }

  async close(): Promise<void> {
    this.stop();
    const running = this.#running?.then(() => 'stopped');
    await this.time.runFor(10_000);
    assert.equal(await Promise.race([running, Promise.resolve('still running')]), 'stopped');
    this.shard.resumeReading();
    this.network.apply({ kind: 'calm' });
    this.network.cancelPlan();
    await this.time.runUntilIdle(QUIET);
    await Promise.all(this.shard.sessions.map(({ reading }) => reading));
    const { listeners: _, ...open } = this.network.open;
    const left = Object.entries(open).filter(([, count]) => count !== 0);
    assert.deepEqual(left, [], 'something leaked');
    assert.equal(this.time.pendingTimers, 0, 'timers are left');
    assert.equal(this.cluster.isWatched, false, 'the cluster is still watched');
  }

  /** The value of one series as it would be scraped; undefined when it is not exposed. */
  async metric(series: string): Promise<number | undefined> {
    for (const family of this.registry.snapshot().families) {
      for await (const text of family.format()) {
        const line = text.split('\n').find((one) => one.startsWith(`${series} `));
        if (line !== undefined) return Number(line.slice(series.length + 1));
      }
    }
    return undefined;
  }

  /** Log lines with this message. */
  logged(message: string): string[] {
    return this.log.lines.filter(
      (line) => line.includes(`msg="${message}"`) || line.includes(`msg=${message} `),
    );
  }
}

/** Runs `body` in a fresh world and closes it, which checks for leaks. */
export async function inWorld(
  options: WorldOptions,
  body: (world: World) => Promise<void>,
): Promise<void> {
  const world = new World(options);
  await body(world);
  await world.close();
}

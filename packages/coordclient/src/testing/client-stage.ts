// The production client under virtual time, between a shard's port and scripted coordinators.

import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import type { DurableFile, ShardControl } from '@bigfleet/shard';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  createScraper,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { type CoordClient, startCoordClient } from '../coord-client.ts';
import { RecordingControl } from './recording-control.ts';
import { ScriptedCoordinator } from './scripted-coordinator.ts';

const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };

/** A file whose disk can be full. */
export class MemoryFile implements DurableFile {
  readonly path = 'coordinator-term';
  text: string | undefined;
  isFull = false;

  constructor(text?: string) {
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async replace(text: string): Promise<void> {
    if (this.isFull) throw new Error('ENOSPC: no space left on device');
    this.text = text;
  }
}

export class ClientStage {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly control: RecordingControl = new RecordingControl();
  readonly log: CapturedLog = captureSink();
  readonly registry: MetricRegistry = createRegistry();
  readonly term: MemoryFile;
  /** What the configured name leads to, as of now. */
  addresses: string[] = [];
  readonly resolved: number[] = [];
  #client: CoordClient | undefined;

  constructor({ seed = 'client', term }: { seed?: string; term?: string } = {}) {
    this.time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    const { runtime } = this.time;
    this.term = new MemoryFile(term);
    this.network = createMemoryNetwork({
      runtime,
      faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
    });
  }

  get client(): CoordClient {
    if (this.#client === undefined) throw new Error('the client was not started');
    return this.#client;
  }

  coordinator(host = 'coord-0'): ScriptedCoordinator {
    const coordinator = new ScriptedCoordinator(this.network, `${host}:7790`);
    this.addresses.push(coordinator.address);
    return coordinator;
  }

  async start(control: ShardControl = this.control): Promise<this> {
    const { runtime } = this.time;
    this.#client = await startCoordClient({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: this.log }),
      registry: this.registry,
      control,
      coordinatorAddress: 'coordinator:7790',
      shardAddress: 's1:7780',
      intervalMs: 10_000,
      termFile: this.term,
      resolve: async () => {
        this.resolved.push(this.time.nowMs);
        return this.addresses.map((address) => ({ address }));
      },
      connect: ({ address }) => this.network.connect({ from: 's1', to: address }),
    });
    await this.ticks(0);
    return this;
  }

  /** So many further reports. */
  ticks(count: number): Promise<void> {
    return this.time.runFor(count * 10_000 + (count === 0 ? 100 : 0));
  }

  /** NaN for a series that does not exist. */
  async metric(series: string): Promise<number> {
    const { timers } = realRuntime();
    const text = await createScraper({ timers, registries: [this.registry] }).scrape();
    const wanted = `bigfleet_shard_${series} `;
    const line = text.split('\n').find((each) => each.startsWith(wanted));
    return Number(line?.slice(wanted.length) ?? Number.NaN);
  }

  logged(text: string): string[] {
    return this.log.lines.filter((line) => line.includes(text));
  }

  async stop(): Promise<void> {
    this.client.stop();
    await this.time.runFor(60_000);
    await this.client.stopped;
    this.network.close();
  }
}

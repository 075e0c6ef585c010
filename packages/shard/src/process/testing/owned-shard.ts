// A whole shard under virtual time that shares providers with others: the fake provider, asynchronous
// as real ones are, the engine inline, files that survive a restart, bootstraps rendered locally.
// Several of them on one network and one fake are a fleet.

import assert from 'node:assert/strict';
import type { VirtualRuntime } from '@bigfleet/base';
import { CapacityType, type StateCode } from '@bigfleet/engine';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import { TokenSource } from '@bigfleet/wire';
import type { MemoryNetwork } from '@bigfleet/wire/memory';
import { noAuditLog } from '../../audit/audit-log.ts';
import { createInlineHost } from '../../engine-host/inline-host.ts';
import { rollupOf } from '../../engine-host/testing/random-inputs.ts';
import { type ProviderTarget, readProvidersFile } from '../../ownership/provider-targets.ts';
import { LIBRARY_SETTINGS, type RunningShard } from '../shard-options.ts';
import { startShard } from '../start-shard.ts';
import { ProviderSet } from '../../provider/provider-set.ts';
import { ProviderSource } from '../../provider/provider-source.ts';
import type { FakeSpec } from '../../testing/fake/fake-machine.ts';
import type { FakeProvider } from '../../testing/fake/fake-provider.ts';
import { InProcessProvider } from '../../testing/fake/in-process.ts';
import { ProviderDirectory } from '../../ownership/provider-directory.ts';
import type { ConnectProvider } from '../../ownership/registry-follower.ts';
import type { ShardControl } from '../../ownership/control.ts';
import { CrashDisk } from '../../ownership/testing/crash-disk.ts';

export interface OwnedShardOptions {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly shardId: string;
  /** By address. */
  readonly fakes: ReadonlyMap<string, FakeProvider>;
  /** Given by flag: name to address. Absent: the set is the registry's. */
  readonly flags?: ReadonlyMap<string, string>;
  readonly isSharedByFlag?: boolean;
  /** Of an earlier life of the same shard. */
  readonly before?: OwnedShard;
  readonly settings?: Partial<typeof LIBRARY_SETTINGS>;
}

export class OwnedShard {
  readonly disk: CrashDisk;
  readonly log: CapturedLog = captureSink();
  readonly registry: MetricRegistry = createRegistry();
  /** Addresses that were dialled, and closed. */
  readonly dialled: string[] = [];
  readonly closed: string[] = [];
  readonly epoch: bigint;
  readonly #options: OwnedShardOptions;
  #shard: RunningShard | undefined;
  #host = undefined as ReturnType<typeof createInlineHost> | undefined;

  constructor(options: OwnedShardOptions) {
    this.#options = options;
    this.disk = options.before?.disk.restarted() ?? new CrashDisk();
    this.epoch = (options.before?.epoch ?? 0n) + 1n;
  }

  get shard(): RunningShard {
    assert.ok(this.#shard !== undefined, 'the shard was not started');
    return this.#shard;
  }

  get control(): ShardControl {
    const { control } = this.shard.parts;
    assert.ok(control !== undefined, 'the shard cannot be steered');
    return control;
  }

  async start(): Promise<this> {
    const { time, network, shardId, flags, isSharedByFlag = false, settings } = this.#options;
    const { runtime } = time;
    const host = createInlineHost(runtime);
    this.#host = host;
    const connect = this.#connector();
    const named = await this.#targets();
    const connected = new Map(named.map((target) => [target.name, connect(target)]));
    const address = `${shardId}:7780`;
    const starting = startShard({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: this.log }),
      registry: this.registry,
      shardId,
      epoch: this.epoch,
      host,
      providers: new ProviderSet([...connected.values()].map(({ source }) => source)),
      storage: { rails: this.disk.file('rails.json'), records: undefined, audit: noAuditLog },
      transport: {
        mode: 'plaintext',
        listen: async (router) => {
          const server = network.listen(address, router);
          return { address, stop: () => server.stop(2_000) };
        },
      },
      settings: {
        ...LIBRARY_SETTINGS,
        executeConcurrency: 8,
        hasLocalBootstrap: true,
        ...settings,
      },
      ownership: {
        files: {
          assignment: this.disk.file('assignment.json'),
          transfers: this.disk.file('transfers.json'),
          providers: this.disk.file('providers.json'),
        },
        directory: new ProviderDirectory(
          named.map(({ name, address: at, region = '', isShared = false, isRetiring = false }) => [
            name,
            {
              address: at,
              source: flags === undefined ? 'registry' : 'flag',
              isShared: isShared || isSharedByFlag,
              region,
              isRetiring,
            },
          ]),
        ),
        isSharedByFlag,
        connect: flags === undefined ? connect : undefined,
        connected,
      },
    });
    await time.runFor(0);
    this.#shard = await starting;
    return this;
  }

  /** So many cores of the pool `general`, as `fourCores` machines provide. */
  async demand(cluster: string, cores: number, priority?: number): Promise<void> {
    const bytes = rollupOf(cluster, cores, priority);
    const applied = this.#host?.applyRollup({ cluster, bytes, isGuarded: false });
    this.shard.parts.core.wake();
    await this.#options.time.runFor(0);
    await applied;
  }

  stateOf(machineId: string): StateCode | undefined {
    const { fleet } = this.shard.parts.core;
    const slot = fleet.inventory.slotOf(machineId);
    return slot < 0 ? undefined : fleet.stateOf(slot);
  }

  logged(text: string): string[] {
    return this.log.lines.filter((line) => line.includes(text));
  }

  async stop(): Promise<void> {
    const stopped = this.shard.stop();
    await this.#options.time.runFor(30_000);
    await stopped;
  }

  /** As a real process begins: by its flags, else by what the registry said in an earlier life. */
  async #targets(): Promise<readonly ProviderTarget[]> {
    const { flags } = this.#options;
    if (flags === undefined) return readProvidersFile(this.disk.file('providers.json'));
    return [...flags].map(([name, address]) => ({ name, address }));
  }

  #connector(): ConnectProvider {
    const { time, shardId, fakes } = this.#options;
    const { runtime } = time;
    const tokens = new TokenSource(shardId, this.epoch);
    return ({ name, address }) => {
      const fake = fakes.get(address);
      assert.ok(fake !== undefined, `nobody is at ${address}`);
      this.dialled.push(address);
      const provider = new InProcessProvider({ runtime, fake, tokens });
      return {
        source: new ProviderSource({ name, provider }),
        close: () => this.closed.push(address),
      };
    };
  }
}

/** A slot or host of four cores, on demand, in a zone. */
export function fourCoresIn(zone: string, id: string, parts: Partial<FakeSpec> = {}): FakeSpec {
  return {
    id,
    instanceType: 'small',
    zone,
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
    labels: new Map([['pool', 'general']]),
    ...parts,
  };
}

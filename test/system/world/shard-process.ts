// The production shard on a life of its own. Durable are its epoch file and its rails; everything
// else it learns again.

import {
  createInlineHost,
  type DurableFile,
  type EngineHost,
  GrpcProvider,
  LIBRARY_SETTINGS,
  type ListMode,
  noAuditLog,
  ProviderSet,
  ProviderSource,
  type RunningShard,
  startShard,
} from '@bigfleet/shard';
import { createRegistry } from '@bigfleet/telemetry';
import {
  CapacityProvider,
  type Channel,
  ClusterCapacityNeedsSchema,
  encodeInit,
  TokenSource,
} from '@bigfleet/wire';
import { Ear } from './ear.ts';
import { type Life, never } from './life.ts';
import { logger, Process, type Surroundings } from './process.ts';
import type { ProviderBook } from './provider-book.ts';
import { providerAddress } from './provider-process.ts';
import { ShardJudge } from './shard-judge.ts';

export const SHARD_HOST = 'shard';
export const SHARD_ADDRESS = 'shard:7780';
/** How long a fenced shard stands still before it is restarted. */
const FENCED_MS = 2_500;

export class ShardProcess extends Process {
  readonly #books: ReadonlyMap<string, ProviderBook>;
  readonly #listMode: ListMode;
  readonly #rails: DurableFile = memoryFile();
  #running: RunningShard | undefined;
  #judge: ShardJudge | undefined;
  /** By the administrator's last word, which outlives every process. */
  #isPaused = false;
  pauseCount = 0;

  constructor(world: Surroundings, books: ReadonlyMap<string, ProviderBook>, listMode: ListMode) {
    super(SHARD_HOST, world);
    this.#books = books;
    this.#listMode = listMode;
  }

  get running(): RunningShard | undefined {
    return this.#running;
  }

  get judge(): ShardJudge | undefined {
    return this.#judge;
  }

  override kill(): void {
    super.kill();
    this.#running = undefined;
  }

  /** As an administrator says it; to a process that is down it cannot be said. */
  setPaused(paused: boolean): void {
    if (this.#running === undefined || this.#isPaused === paused) return;
    const { witness } = this.world;
    witness.step(`admin ${paused ? 'pauses' : 'resumes'}`);
    // A crash may have fallen on this very step.
    const running = this.running;
    if (running === undefined) return;
    this.#isPaused = paused;
    if (paused) this.pauseCount += 1;
    running.parts.actuation
      .set({ paused, clear: false, reason: 'weather', by: 'admin' })
      .catch((error: unknown) => witness.broken(`a pause was refused: ${String(error)}`));
  }

  protected async run(life: Life, lifeNumber: number): Promise<void> {
    const { network, witness, mutant } = this.world;
    const { runtime } = life;
    const nowMs = (): number => runtime.clock.monotonicMs();
    const ear = new Ear(nowMs);
    const judge = new ShardJudge({
      witness,
      ear,
      books: this.#books,
      nowMs,
      hasDuplicates: () => network.counters.duplicatedRequests > 0,
      onFenced: () => runtime.timers.after(FENCED_MS, () => this.#restart()),
    });
    this.#judge = judge;
    // The epoch file: one more with every start, durable before anything else.
    const epoch = mutant === 'same-epoch' ? 1n : BigInt(lifeNumber);
    const host = createInlineHost(runtime);
    if (mutant === 'deaf-shard') deafen(host);
    const shard = await startShard({
      runtime,
      logger,
      registry: createRegistry(),
      shardId: 'shard-0',
      epoch,
      host,
      providers: this.#dial(life, epoch),
      storage: { rails: this.#rails, records: undefined, audit: noAuditLog },
      transport: {
        mode: 'plaintext',
        listen: async (router) => {
          if (life.isOver) return await never();
          const server = network.listen(SHARD_ADDRESS, life.router(ear.router(router)));
          return { address: SHARD_ADDRESS, stop: () => server.stop(0) };
        },
      },
      settings: {
        ...LIBRARY_SETTINGS,
        hasConfigureBrake: true,
        executeConcurrency: 4,
        bootstrapTimeoutMs: 5_000,
      },
      extend: (_, parts) => ({
        observer: life.isOver ? {} : guarded(life, judge.observer(parts)),
      }),
    });
    if (life.isOver) return;
    if (mutant === 'rash-shard') {
      for (const cluster of this.world.clusterIds()) host.markReported(cluster);
    }
    if (mutant === 'half-paused') shard.parts.core.railsChanged = () => {};
    this.#running = shard;
    throw await shard.failed;
  }

  #restart(): void {
    const { network } = this.world;
    network.apply({ kind: 'crash', host: SHARD_HOST });
    network.apply({ kind: 'restart', host: SHARD_HOST });
  }

  /** The law of the kill switch, read off the wire: nothing begins while it is on. */
  #watched(inner: Channel): Channel {
    return {
      ...inner,
      unary: (path, request, options) => {
        if (this.#isPaused && MUTATIONS.has(path)) {
          this.world.witness.broken(`a paused shard called ${path}`);
        }
        return inner.unary(path, request, options);
      },
    };
  }

  #dial(life: Life, epoch: bigint): ProviderSet {
    const tokens = new TokenSource('shard-0', epoch);
    const { runtime } = life;
    const sources = [...this.#books.keys()].map((name) => {
      const options = { from: SHARD_HOST, to: providerAddress(name) };
      const channel = this.#watched(life.channel(this.world.network.connect(options)));
      return new ProviderSource({
        name,
        provider: new GrpcProvider({ runtime, channel, tokens }),
        mode: this.#listMode,
      });
    });
    return new ProviderSet(sources);
  }
}

/** The calls that change a machine. */
const MUTATIONS: ReadonlySet<string> = new Set(
  ['Create', 'Configure', 'Drain', 'Delete'].map(
    (method) => `/${CapacityProvider.typeName}/${method}`,
  ),
);

function deafen(host: EngineHost): void {
  const apply = host.applyRollup.bind(host);
  let count = 0;
  host.applyRollup = (order) => {
    count += 1;
    const nothing = { clusterId: order.cluster, timestampUnixNanos: BigInt(count) };
    const bytes = encodeInit(ClusterCapacityNeedsSchema, nothing);
    return apply(count % 2 === 0 ? { ...order, bytes } : order);
  };
}

/** A dead shard's promises may run on; what they think they see is nobody's business. */
function guarded<T extends object>(life: Life, observer: T): T {
  return new Proxy(observer, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver);
      return life.isOver && typeof value === 'function' ? () => {} : value;
    },
  });
}

function memoryFile(): DurableFile {
  let text: string | undefined;
  return {
    path: 'rails.json',
    read: async () => text,
    replace: async (next) => {
      text = next;
    },
  };
}

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
import { ClusterCapacityNeedsSchema, encodeInit, TokenSource } from '@bigfleet/wire';
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
      settings: { ...LIBRARY_SETTINGS, executeConcurrency: 4, bootstrapTimeoutMs: 5_000 },
      extend: (_, parts) => ({
        observer: life.isOver ? {} : guarded(life, judge.observer(parts)),
      }),
    });
    if (life.isOver) return;
    if (mutant === 'rash-shard') {
      for (const cluster of this.world.clusterIds()) host.markReported(cluster);
    }
    this.#running = shard;
    throw await shard.failed;
  }

  #restart(): void {
    const { network } = this.world;
    network.apply({ kind: 'crash', host: SHARD_HOST });
    network.apply({ kind: 'restart', host: SHARD_HOST });
  }

  #dial(life: Life, epoch: bigint): ProviderSet {
    const tokens = new TokenSource('shard-0', epoch);
    const { runtime } = life;
    const sources = [...this.#books.keys()].map((name) => {
      const options = { from: SHARD_HOST, to: providerAddress(name) };
      const channel = life.channel(this.world.network.connect(options));
      return new ProviderSource({
        name,
        provider: new GrpcProvider({ runtime, channel, tokens }),
        mode: this.#listMode,
      });
    });
    return new ProviderSet(sources);
  }
}

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

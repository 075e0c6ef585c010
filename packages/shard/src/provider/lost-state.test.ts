// Proves that the shard does not trust a cursor across the life of a provider: foreign cursors are
// plain counters, and a provider that comes back with fewer revisions answers an old one with nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareText, sleep } from '@bigfleet/base';
import { decodeShardMetadata } from '@bigfleet/engine';
import {
  CapacityProvider,
  encodeInit,
  MachineListSchema,
  openGate,
  Router,
  TokenSource,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryServer } from '@bigfleet/wire/memory';
import { inWorld, type VirtualWorld } from '../testing/virtual-world.ts';
import { GrpcProvider } from './grpc-provider.ts';
import { ProviderSource, type RefreshOptions, type RefreshOutcome } from './provider-source.ts';
import type { Provider } from './provider.ts';
import { World } from './reconcile/testing/world.ts';
import type { ListAsker } from './scan/list-asker.ts';
import { createInlineScans } from './scan/scanner.ts';

/** Cursors as foreign providers make them: the decimal of a counter that a new life starts at 0. */
class CountingProvider {
  readonly asked: string[] = [];
  /** How long a List is on its way back. */
  answerAfterMs = 0;
  readonly #changedAt = new Map<string, number>();
  #revision = 0;

  change(...ids: readonly string[]): void {
    for (const id of ids) this.#changedAt.set(id, ++this.#revision);
  }

  loseEverything(): void {
    this.#changedAt.clear();
    this.#revision = 0;
  }

  list(sinceRevision: Uint8Array): ListInit {
    const since = sinceRevision.length === 0 ? 0 : Number(Buffer.from(sinceRevision).toString());
    this.asked.push(since === 0 ? 'full' : `since ${since}`);
    const changed = [...this.#changedAt].filter(([, at]) => at > since);
    return {
      machines: changed.map(([id]) => ({ ...RECORD, id })),
      revision: Buffer.from(String(this.#revision)),
    };
  }
}

const RECORD = {
  state: 1,
  instanceType: 'small',
  zone: 'zone-a',
  capacityType: 3,
  pricePerHour: 0.2,
  resources: { resources: { cpu: '4' } },
  allocatable: { resources: { cpu: '4' } },
} as const;

interface ListInit {
  readonly machines: readonly ({ readonly id: string } & typeof RECORD)[];
  readonly revision: Uint8Array;
}

class Shard {
  readonly #world = new World();
  readonly #virtual: VirtualWorld;

  constructor(virtual: VirtualWorld) {
    this.#virtual = virtual;
  }

  get options(): RefreshOptions {
    this.#world.nowMs = this.#virtual.time.nowMs;
    return {
      known: this.#world.known,
      nowMs: this.#world.nowMs,
      readAssignment: decodeShardMetadata,
      apply: (batch) => this.#world.apply(batch),
    };
  }

  get ids(): readonly string[] {
    return this.#world.inventory.ids.filter((id) => id !== '').toSorted(compareText);
  }
}

/** The provider as a process that can be started again at its address. */
class Life {
  readonly provider: GrpcProvider;
  readonly #world: VirtualWorld;
  readonly #counting: CountingProvider;
  readonly #network;
  #server: MemoryServer;

  constructor(world: VirtualWorld, counting: CountingProvider) {
    this.#world = world;
    this.#counting = counting;
    this.#network = createMemoryNetwork({ runtime: world.time.runtime });
    this.#server = this.#listen();
    const channel = this.#network.connect({ from: 'shard', to: 'a:1' });
    const tokens = new TokenSource('shard-0', 1n);
    this.provider = new GrpcProvider({ runtime: world.time.runtime, channel, tokens });
  }

  async restart(): Promise<void> {
    await this.#server.stop(0);
    this.#server = this.#listen();
    // The end of the old connection is on its way to the shard.
    await sleep(this.#world.time.runtime, 1_000);
  }

  close(): void {
    this.#network.close();
  }

  #listen(): MemoryServer {
    const unused = async (): Promise<never> => assert.fail('only Lists are asked for');
    const router = new Router({ gate: openGate }).add(CapacityProvider, {
      create: unused,
      configure: unused,
      drain: unused,
      delete: unused,
      get: unused,
      list: async ({ sinceRevision }) => {
        const { machines, revision } = this.#counting.list(sinceRevision);
        await sleep(this.#world.time.runtime, this.#counting.answerAfterMs);
        return { machines: [...machines], revision };
      },
    });
    return this.#network.listen('a:1', router);
  }
}

function listOf(outcome: RefreshOutcome): string {
  return outcome.kind === 'refreshed' ? outcome.list : outcome.kind;
}

async function started(world: VirtualWorld): Promise<{
  counting: CountingProvider;
  life: Life;
  shard: Shard;
  refresh: () => Promise<string>;
}> {
  const counting = new CountingProvider();
  counting.change('m0', 'm1', 'm2', 'm3');
  const life = new Life(world, counting);
  const shard = new Shard(world);
  const source = new ProviderSource({ name: 'a', provider: life.provider, mode: 'incremental' });
  const refresh = async (): Promise<string> => listOf(await source.refresh(shard.options));
  assert.equal(await refresh(), 'full');
  counting.change('m3');
  assert.equal(await refresh(), 'delta');
  assert.deepEqual(counting.asked.splice(0), ['full', 'since 4']);
  return { counting, life, shard, refresh };
}

test(
  'a provider that came back empty is listed in full at the first reconcile after',
  inWorld(async (world) => {
    const { counting, life, shard, refresh } = await started(world);
    counting.loseEverything();
    counting.change('n0');
    await life.restart();
    assert.equal(await refresh(), 'full');
    assert.deepEqual(shard.ids, ['n0']);
    assert.deepEqual(counting.asked.splice(0), ['since 5', 'full']);
    assert.equal(await refresh(), 'delta', 'its own cursor again');
    life.close();
  }),
);

test(
  'a counter that has caught up tells nothing: the connection alone drops the cursor',
  inWorld(async (world) => {
    const { counting, life, shard, refresh } = await started(world);
    counting.loseEverything();
    counting.change('n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6');
    await life.restart();
    assert.equal(await refresh(), 'full');
    assert.deepEqual(shard.ids, ['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6']);
    life.close();
  }),
);

test(
  'a connection that breaks in the middle of a List: that one fails, the next is a full one',
  inWorld(async (world) => {
    const { counting, life, shard, refresh } = await started(world);
    counting.answerAfterMs = 100;
    const broken = refresh();
    await sleep(world.time.runtime, 50);
    counting.loseEverything();
    await life.restart();
    assert.equal(await broken, 'failed');
    assert.equal(shard.ids.length, 4, 'a List that fails removes nothing');
    counting.change('n0');
    assert.equal(await refresh(), 'full');
    assert.deepEqual(shard.ids, ['n0']);
    life.close();
  }),
);

test(
  'a revision below the cursor drops it, on the same connection',
  inWorld(async (world) => {
    const { counting, life, shard, refresh } = await started(world);
    counting.loseEverything();
    counting.change('n0', 'n1');
    assert.equal(await refresh(), 'full');
    assert.deepEqual(shard.ids, ['n0', 'n1']);
    life.close();
  }),
);

test(
  'an answer of the old connection counts for the old one: the next delta is dropped',
  inWorld(async (world) => {
    const counting = new CountingProvider();
    counting.change('m0', 'm1');
    const shard = new Shard(world);
    const scans = createInlineScans();
    let connection = '1';
    const asker: ListAsker = {
      ask: async ({ request, onAnswered, ...order }) => {
        const { machines, revision } = counting.list(request.sinceRevision ?? new Uint8Array(0));
        onAnswered();
        const bytes = encodeInit(MachineListSchema, { machines: [...machines], revision });
        return { ...(await scans.scan({ ...order, bytes })), connection };
      },
    };
    const unused = async (): Promise<never> => assert.fail('only Lists are asked for');
    const provider: Provider = {
      create: unused,
      configure: unused,
      drain: unused,
      delete: unused,
      get: unused,
      list: unused,
    };
    const source = new ProviderSource({ name: 'a', provider, mode: 'incremental', asker });
    const refresh = async (): Promise<string> => listOf(await source.refresh(shard.options));
    await refresh();
    // The second connection exists already; this answer still came on the first.
    counting.change('m2');
    assert.equal(await refresh(), 'delta');
    counting.loseEverything();
    counting.change('n0', 'n1', 'n2', 'n3');
    connection = '2';
    assert.equal(await refresh(), 'full');
    assert.deepEqual(shard.ids, ['n0', 'n1', 'n2', 'n3']);
    assert.deepEqual(counting.asked, ['full', 'since 2', 'since 3', 'full']);
  }),
);

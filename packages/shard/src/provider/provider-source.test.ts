// Proves full and incremental reconcile of providers: cursors, removals, restarts, refusals, and
// that each provider is its own failure domain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, compareText } from '@bigfleet/base';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import { RpcError, TokenSource } from '@bigfleet/wire';
import fc from 'fast-check';
import { FakeProvider } from '../testing/fake/fake-provider.ts';
import { InProcessProvider } from '../testing/fake/in-process.ts';
import { seedSpecs } from '../testing/fake/seed.ts';
import { fakeHandlers } from '../testing/fake/service.ts';
import { inWorld, type VirtualWorld } from '../testing/virtual-world.ts';
import { decodeMachineList } from './list/decode-list.ts';
import { ProviderError } from './provider-error.ts';
import { ProviderSet } from './provider-set.ts';
import { ProviderSource, type RefreshOptions, type RefreshOutcome } from './provider-source.ts';
import type { ListRequest, Provider } from './provider.ts';
import { FULL_LIST_EVERY_MS } from './reconcile/list-plan.ts';
import type { IngestBatch } from './reconcile/ingest.ts';
import type { ReconcileSummary } from './reconcile/reconcile-list.ts';
import { type Counts, countsOf, stamped, World } from './reconcile/testing/world.ts';
import type { LocalWrites } from './row-trust.ts';
import type { ScanOrder } from './scan/list-scans.ts';
import { createInlineScans } from './scan/scanner.ts';

class Shard {
  readonly world = new World();
  readonly #virtual: VirtualWorld;
  /** Of the refresh that was asked for last. */
  #batches: IngestBatch[] = [];

  constructor(virtual: VirtualWorld) {
    this.#virtual = virtual;
  }

  get options(): RefreshOptions {
    this.#batches = [];
    this.world.nowMs = this.#virtual.time.nowMs;
    return {
      known: this.world.known,
      nowMs: this.world.nowMs,
      readAssignment: decodeShardMetadata,
      apply: (batch) => {
        this.#batches.push(batch);
        this.world.apply(batch);
      },
    };
  }

  counts(summary: ReconcileSummary): Counts {
    return countsOf(summary, this.#batches);
  }

  get size(): number {
    return this.world.inventory.size;
  }

  states(): Map<string, number> {
    const { ids, columns } = this.world.inventory;
    const known = ids.flatMap((id, slot) =>
      id === '' ? [] : [[id, columns.state[slot] ?? 0] as const],
    );
    return new Map(known.toSorted(([a], [b]) => compareText(a, b)));
  }
}

function refreshed(outcome: RefreshOutcome): Extract<RefreshOutcome, { kind: 'refreshed' }> {
  assert.ok(outcome.kind === 'refreshed', outcome.kind === 'failed' ? outcome.error.message : '');
  return outcome;
}

/** Notes what is asked of a provider. */
function spied(provider: Provider): { provider: Provider; requests: ListRequest[] } {
  const requests: ListRequest[] = [];
  const spy: Provider = {
    create: (...args) => provider.create(...args),
    configure: (...args) => provider.configure(...args),
    drain: (...args) => provider.drain(...args),
    delete: (...args) => provider.delete(...args),
    get: (...args) => provider.get(...args),
    list: (request, limits) => {
      requests.push(request);
      return provider.list(request, limits);
    },
  };
  return { provider: spy, requests };
}

test(
  'incremental: everything first, then only what changed, and a full List every ten minutes',
  inWorld(async (world) => {
    const fake = world.fake('a', 30, { instantTransitions: true });
    const shard = new Shard(world);
    const provider = world.client('a');
    const source = new ProviderSource({ name: 'a', provider, mode: 'incremental' });
    const first = refreshed(await source.refresh(shard.options));
    assert.deepEqual([first.list, shard.counts(first.summary).changeCounts.inserted], ['full', 30]);
    const id = shard.world.inventory.ids[0] ?? '';
    await provider.create(id);
    const second = refreshed(await source.refresh(shard.options));
    assert.deepEqual([second.list, second.summary.rowCount], ['delta', 1]);
    assert.equal(shard.world.machine(id)?.state, State.Idle);
    const third = refreshed(await source.refresh(shard.options));
    assert.deepEqual([third.list, third.summary.rowCount], ['delta', 0]);
    fake.removeMachine(id);
    await world.time.runtime.timers.turn();
    assert.equal(refreshed(await source.refresh(shard.options)).summary.rowCount, 0);
    assert.equal(shard.size, 30, 'a delta cannot say gone');
    await pass(world, FULL_LIST_EVERY_MS);
    const full = refreshed(await source.refresh(shard.options));
    assert.deepEqual([full.list, shard.counts(full.summary).changeCounts.removed], ['full', 1]);
    assert.equal(shard.size, 29);
  }),
);

function pass(world: VirtualWorld, ms: number): Promise<void> {
  return new Promise((resolve) => {
    world.time.runtime.timers.after(ms, resolve);
  });
}

test(
  'a restart that changes the incarnation: all is listed again, nothing is lost or doubled',
  inWorld(async (world) => {
    const shard = new Shard(world);
    const runtime = world.time.runtimeFor('provider');
    const boot = (count: number): FakeProvider => {
      const fake = new FakeProvider({ runtime, instantTransitions: true });
      for (const spec of seedSpecs({ provider: 'a', count })) fake.addSpeculative(spec);
      return fake;
    };
    let current = boot(20);
    const tokens = new TokenSource('s', 1n);
    const lives = (): InProcessProvider =>
      new InProcessProvider({ runtime: world.time.runtime, fake: current, tokens });
    const { provider, requests } = spied({
      create: (id) => lives().create(id),
      configure: (order) => lives().configure(order),
      drain: (order) => lives().drain(order),
      delete: (id) => lives().delete(id),
      get: (id) => lives().get(id),
      list: (request) => lives().list(request),
    });
    const source = new ProviderSource({ name: 'a', provider, mode: 'incremental' });
    await source.refresh(shard.options);
    current = boot(19);
    const foreign = refreshed(await source.refresh(shard.options));
    assert.deepEqual([foreign.list, shard.counts(foreign.summary).unchangedCount], ['delta', 19]);
    assert.equal(shard.size, 20);
    const next = refreshed(await source.refresh(shard.options));
    assert.deepEqual([next.list, next.summary.rowCount], ['delta', 0], 'its own cursor again');
    await pass(world, FULL_LIST_EVERY_MS);
    await source.refresh(shard.options);
    assert.equal(shard.size, 19);
    assert.equal(requests.length, 4);
  }),
);

test(
  'a provider that lost everything is asked in full until three Lists agree',
  inWorld(async (world) => {
    const fake = world.fake('a', 20);
    const shard = new Shard(world);
    const source = new ProviderSource({
      name: 'a',
      provider: world.client('a'),
      mode: 'incremental',
    });
    await source.refresh(shard.options);
    fake.shedSpeculative(1);
    await pass(world, FULL_LIST_EVERY_MS);
    for (const agreeing of [1, 2]) {
      const { list, summary } = refreshed(await source.refresh(shard.options));
      assert.equal(list, 'full');
      assert.deepEqual(summary.removal, { kind: 'held', heldCount: 20, agreeing });
      assert.deepEqual([shard.size, source.heldRemovalCount], [20, 20]);
    }
    const last = refreshed(await source.refresh(shard.options));
    assert.equal(shard.counts(last.summary).changeCounts.removed, 20);
    assert.deepEqual([shard.size, source.heldRemovalCount], [0, 0]);
  }),
);

test(
  'a refused cursor is dropped and the List repeated in full, once; an outage keeps it',
  inWorld(async (world) => {
    const fake = new FakeProvider({ runtime: world.time.runtime });
    for (const spec of seedSpecs({ provider: 'a', count: 3 })) fake.addSpeculative(spec);
    const answers: (RpcError | undefined)[] = [];
    const asked: string[] = [];
    const handlers = fakeHandlers(fake);
    world.serve('a', {
      ...handlers,
      list: async ({ sinceRevision }) => {
        asked.push(sinceRevision.length === 0 ? 'full' : 'delta');
        const failure = answers.shift();
        if (failure !== undefined) throw failure;
        return { machines: [], revision: Uint8Array.of(1) };
      },
    });
    const shard = new Shard(world);
    const source = new ProviderSource({
      name: 'a',
      provider: world.client('a'),
      mode: 'incremental',
    });
    await source.refresh(shard.options);
    answers.push(new RpcError('UNAVAILABLE', 'down'));
    assert.equal((await source.refresh(shard.options)).kind, 'failed');
    await source.refresh(shard.options);
    assert.deepEqual(asked.splice(0), ['full', 'delta', 'delta'], 'the cursor survived');
    answers.push(new RpcError('INVALID_ARGUMENT', 'what cursor?'));
    assert.equal(refreshed(await source.refresh(shard.options)).list, 'full');
    assert.deepEqual(asked.splice(0), ['delta', 'full']);
    answers.push(new RpcError('INTERNAL', 'no'), new RpcError('INTERNAL', 'no'));
    assert.equal((await source.refresh(shard.options)).kind, 'failed');
    assert.deepEqual(asked.splice(0), ['delta', 'full'], 'and no third time');
    await source.refresh(shard.options);
    assert.deepEqual(asked, ['full']);
    fake.close();
  }),
);

test(
  'what could not be applied is listed again: the cursor advances with the inventory',
  inWorld(async (world) => {
    world.fake('a', 3);
    const shard = new Shard(world);
    const source = new ProviderSource({
      name: 'a',
      provider: world.client('a'),
      mode: 'incremental',
    });
    const boom = new Error('a bug in the writer');
    const failing = { ...shard.options, apply: () => Promise.reject(boom) };
    await assert.rejects(source.refresh(failing), boom);
    const { list, summary } = refreshed(await source.refresh(shard.options));
    assert.deepEqual([list, shard.counts(summary).changeCounts.inserted], ['full', 3]);
  }),
);

test(
  'an answer that is no List changes nothing and is told as what it is',
  inWorld(async (world) => {
    world.fake('a', 3);
    const inner = world.client('a');
    let isGarbled = false;
    const { provider } = spied(inner);
    const source = new ProviderSource({
      name: 'a',
      provider: {
        ...provider,
        list: async (request) => (isGarbled ? Uint8Array.of(0x0a, 0x7f, 1) : inner.list(request)),
      },
    });
    const shard = new Shard(world);
    await source.refresh(shard.options);
    isGarbled = true;
    const outcome = await source.refresh(shard.options);
    assert.ok(outcome.kind === 'failed');
    assert.equal(outcome.error.code, 'provider_answer_malformed');
    assert.equal(shard.size, 3);
  }),
);

test(
  'a lost reconcile thread fails one refresh; the next lists in full and looks at everything',
  inWorld(async (world) => {
    world.fake('a', 3);
    const inline = createInlineScans();
    let isLost = false;
    const orders: ScanOrder[] = [];
    const source = new ProviderSource({
      name: 'a',
      provider: world.client('a'),
      mode: 'incremental',
      scans: {
        scan: (order) => {
          orders.push(order);
          if (isLost) return Promise.reject(new BigFleetError('reconcile_lost', 'gone'));
          return inline.scan(order);
        },
        close: () => inline.close(),
      },
    });
    const shard = new Shard(world);
    await source.refresh(shard.options);
    isLost = true;
    const outcome = await source.refresh(shard.options);
    assert.deepEqual(outcome.kind === 'failed' && outcome.error.code, 'reconcile_lost');
    isLost = false;
    assert.equal(refreshed(await source.refresh(shard.options)).list, 'full');
    assert.deepEqual(
      orders.map(({ isFull, isAnew }) => [isFull, isAnew]),
      [
        [true, false],
        [false, false],
        [true, true],
      ],
    );
    assert.equal(shard.size, 3);
  }),
);

test(
  'a List that fails takes nothing along of what the next scan has to hear',
  inWorld(async (world) => {
    world.fake('a', 3);
    const inline = createInlineScans();
    const orders: ScanOrder[] = [];
    const { provider } = spied(world.client('a'));
    let isDown = false;
    const source = new ProviderSource({
      name: 'a',
      provider: {
        ...provider,
        list: (request, limits) => {
          const down = {
            failure: 'unknown_result',
            status: 'UNAVAILABLE',
            message: 'down',
          } as const;
          return isDown ? Promise.reject(new ProviderError(down)) : provider.list(request, limits);
        },
      },
      scans: {
        scan: (order) => {
          orders.push(order);
          return inline.scan(order);
        },
        close: () => inline.close(),
      },
    });
    const shard = new Shard(world);
    await source.refresh(shard.options);
    const touched = [shard.world.inventory.ids[1] ?? ''];
    isDown = true;
    const takeWrites = (): LocalWrites => ({ touched, doubted: [] });
    assert.equal((await source.refresh({ ...shard.options, takeWrites })).kind, 'failed');
    source.lookAgain();
    assert.equal((await source.refresh(shard.options)).kind, 'failed');
    isDown = false;
    await source.refresh(shard.options);
    const told = orders.map(({ again, isAnew }) => [again, isAnew]);
    assert.deepEqual(told, [
      [[], false],
      [touched, true],
    ]);
  }),
);

test(
  'two providers with one id: the first keeps it, calls about it go there',
  inWorld(async (world) => {
    const spec = [...seedSpecs({ provider: 'shared', count: 1 })][0];
    assert.ok(spec !== undefined);
    world.fake('a', 0).addSpeculative(spec);
    world.fake('b', 0).addIdle(spec);
    const shard = new Shard(world);
    const a = world.client('a');
    const b = world.client('b');
    const set = new ProviderSet([
      new ProviderSource({ name: 'a', provider: a }),
      new ProviderSource({ name: 'b', provider: b }),
    ]);
    await set.get('a')?.refresh(shard.options);
    const outcome = await set.get('b')?.refresh(shard.options);
    assert.ok(outcome?.kind === 'refreshed');
    assert.equal(shard.counts(outcome.summary).rejectedCounts.duplicate_id, 1);
    const machine = shard.world.machine(spec.id);
    assert.ok(machine !== undefined);
    assert.equal(machine.state, State.Speculative);
    assert.equal(set.route(machine), a);
    set.remove('a');
    assert.equal(set.route(machine), undefined);
  }),
);

test('names are unique and present, and a shard has at most 32 providers', () => {
  const provider = {} as Provider;
  const source = (name: string): ProviderSource => new ProviderSource({ name, provider });
  assert.equal(new ProviderSet().size, 0);
  const misconfigured = { code: 'provider_misconfigured' };
  assert.throws(() => new ProviderSet([source('')]), misconfigured);
  assert.throws(() => new ProviderSet([source('a'), source('a')]), misconfigured);
  const names = Array.from({ length: 32 }, (_, index) => `p${index}`);
  const full = new ProviderSet(names.map(source));
  assert.equal([...full].length, 32);
  assert.throws(() => full.add(source('p32')), misconfigured);
});

test(
  'two Lists of one provider never overlap',
  inWorld(async (world) => {
    world.fake('a', 1);
    const shard = new Shard(world);
    const source = new ProviderSource({ name: 'a', provider: world.client('a') });
    const first = source.refresh(shard.options);
    await assert.rejects(source.refresh(shard.options), /one List of a provider at a time/);
    assert.equal((await first).kind, 'refreshed');
  }),
);

const kinds = ['create', 'configure', 'drain', 'delete', 'fail', 'wait', 'refresh'] as const;

test('property: incremental reconcile ends where full reconcile does', async () => {
  const step = fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 5 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      await inWorld(async (world) => {
        const fake = world.fake('a', 6);
        const provider = world.client('a');
        const ids = decodeMachineList(await provider.list({})).rowCount;
        assert.equal(ids, 6);
        const incremental = new Shard(world);
        const source = new ProviderSource({ name: 'a', provider, mode: 'incremental' });
        await source.refresh(incremental.options);
        const names = [...incremental.states().keys()];
        for (const [kind, index] of steps) {
          const machineId = names[index] ?? '';
          if (kind === 'refresh') await source.refresh(incremental.options);
          else if (kind === 'wait') await pass(world, 30);
          else if (kind === 'fail') fake.failMachine(machineId, 'broken');
          else await refusable(callOf(provider, kind, machineId));
        }
        // Lists take time on the way: a dwell that ended between two of them would be a difference.
        fake.close();
        await source.refresh(incremental.options);
        const full = new Shard(world);
        await new ProviderSource({ name: 'a', provider }).refresh(full.options);
        assert.deepEqual(incremental.states(), full.states());
        const again = refreshed(
          await new ProviderSource({ name: 'a', provider }).refresh(incremental.options),
        );
        assert.equal(incremental.counts(again.summary).unchangedCount, 6);
      })();
    }),
    { numRuns: 40 },
  );
});

/** A call out of position is refused, which is as good as any other step. */
async function refusable(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ProviderError && error.failure === 'state_refusal', String(error));
  }
}

function callOf(
  provider: Provider,
  kind: 'create' | 'configure' | 'drain' | 'delete',
  machineId: string,
): Promise<unknown> {
  switch (kind) {
    case 'create':
      return provider.create(machineId);
    case 'delete':
      return provider.delete(machineId);
    case 'drain':
      return provider.drain({ machineId, gracePeriodSeconds: 0n });
    case 'configure':
      return provider.configure({
        machineId,
        clusterId: 'c',
        bootstrapBlob: new Uint8Array(0),
        shardMetadata: new Map(Object.entries(stamped('3'))),
      });
  }
}

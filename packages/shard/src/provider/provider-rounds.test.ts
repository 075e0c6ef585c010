// Proves that providers are failure domains of their own: one that fails, hangs or answers late
// holds nobody up for longer than the patience of a round, loses nothing, and is heard in the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orAborted } from '@bigfleet/base';
import { decodeShardMetadata } from '@bigfleet/engine';
import { type CapacityProvider, type Handlers, rawUnary } from '@bigfleet/wire';
import { FakeProvider } from '../testing/fake/fake-provider.ts';
import { seedSpecs } from '../testing/fake/seed.ts';
import { fakeHandlers } from '../testing/fake/service.ts';
import { inWorld, type VirtualWorld } from '../testing/virtual-world.ts';
import { LIST_DEADLINE_MS } from './call.ts';
import {
  PATIENCE_MS,
  ProviderRounds,
  type RoundOutcome,
  UNHEARD_PATIENCE_MS,
} from './provider-rounds.ts';
import { ProviderSet } from './provider-set.ts';
import { ProviderSource, type RefreshOptions } from './provider-source.ts';
import type { IngestBatch } from './reconcile/ingest.ts';
import { World } from './reconcile/testing/world.ts';

/** Holds the Lists of one provider back, answered as they are, until the test lets them go. */
class Gate {
  #open: PromiseWithResolvers<void> | undefined;
  listCount = 0;

  hold(): void {
    this.#open ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.#open?.resolve();
    this.#open = undefined;
  }

  before({ list, ...handlers }: ProviderHandlers): ProviderHandlers {
    assert.ok('raw' in list && list.raw === 'unary');
    const held = rawUnary(async (request, call) => {
      this.listCount += 1;
      const answer = await list.handle(request, call);
      await orAborted(this.#open?.promise ?? Promise.resolve(), call.signal);
      return answer;
    });
    return { ...handlers, list: held };
  }
}

type ProviderHandlers = Handlers<typeof CapacityProvider>;

class Shard {
  readonly inventory: World = new World();
  readonly gates: ReadonlyMap<string, Gate>;
  readonly set: ProviderSet;
  readonly rounds: ProviderRounds;
  readonly #world: VirtualWorld;
  isPatient = false;
  lateCount = 0;
  readonly heard: string[] = [];
  apply: (batch: IngestBatch) => void | Promise<void> = (batch) => this.inventory.apply(batch);

  constructor(world: VirtualWorld, fakes: Readonly<Record<string, FakeProvider>>) {
    this.#world = world;
    const names = Object.keys(fakes);
    this.gates = new Map(names.map((name) => [name, new Gate()]));
    for (const [name, fake] of Object.entries(fakes)) {
      world.serve(name, this.gate(name).before(fakeHandlers(fake)));
    }
    this.set = new ProviderSet(names.map((name) => this.source(name)));
    this.rounds = new ProviderRounds({
      runtime: world.time.runtime,
      providers: this.set,
      isPatient: () => this.isPatient,
      onRefreshed: (name) => this.heard.push(name),
      onLate: () => (this.lateCount += 1),
    });
  }

  source(name: string): ProviderSource {
    return new ProviderSource({ name, provider: this.#world.client(name) });
  }

  gate(name: string): Gate {
    return this.gates.get(name) ?? assert.fail(`no gate ${name}`);
  }

  get nowMs(): number {
    return this.#world.time.nowMs;
  }

  /** The outcomes of a round, and how long it took. */
  async next(): Promise<{
    kinds: string[];
    tookMs: number;
    all: ReadonlyMap<string, RoundOutcome>;
  }> {
    const startMs = this.nowMs;
    const options: RefreshOptions = {
      known: this.inventory.known,
      nowMs: startMs,
      readAssignment: decodeShardMetadata,
      apply: (batch) => this.apply(batch),
    };
    const all = await this.rounds.next(options);
    const kinds = [...all].map(([name, { kind }]) => `${name} ${kind}`);
    return { kinds, tookMs: this.nowMs - startMs, all };
  }

  sizes(): Record<string, number> {
    const { known } = this.inventory;
    return Object.fromEntries([...this.gates.keys()].map((name) => [name, known.countOf(name)]));
  }

  pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.time.runtime.timers.after(ms, () => resolve()));
  }
}

test(
  'a provider that is down leaves the others as they are, and loses nothing itself',
  inWorld(async (world) => {
    const [a, b] = [slots(world, 'a', 4), slots(world, 'b', 4)];
    const shard = new Shard(world, { a, b });
    await shard.next();
    world.network.apply({ kind: 'crash', host: 'a' });
    a.removeMachine(idOf(shard, 'a'));
    b.removeMachine(idOf(shard, 'b'));
    const { all } = await shard.next();
    const failed = all.get('a');
    assert.ok(failed?.kind === 'failed');
    assert.equal(failed.error.code, 'provider_result_unknown');
    assert.equal(all.get('b')?.kind, 'refreshed');
    assert.deepEqual(shard.sizes(), { a: 4, b: 3 });
  }),
);

test(
  'a provider that hangs costs one round its patience and the next ones nothing',
  inWorld(async (world) => {
    const [a, b] = [slots(world, 'a', 4), slots(world, 'b', 4)];
    const shard = new Shard(world, { a, b });
    await shard.next();
    shard.gate('a').hold();
    const asked = shard.gate('a').listCount;
    const first = await shard.next();
    assert.deepEqual(first.kinds, ['a unanswered', 'b refreshed']);
    assert.ok(first.tookMs >= PATIENCE_MS && first.tookMs < PATIENCE_MS + 50, `${first.tookMs}`);
    for (let left = 3; left > 0; left--) {
      b.removeMachine(idOf(shard, 'b'));
      const next = await shard.next();
      assert.deepEqual(next.kinds, ['a unanswered', 'b refreshed']);
      assert.ok(next.tookMs < 50, `${next.tookMs}`);
      assert.deepEqual(shard.sizes(), { a: 4, b: left });
    }
    assert.equal(shard.gate('a').listCount, asked + 1, 'it is not asked again meanwhile');
    assert.equal(shard.lateCount, 0);
    // What the held List says is as of when it was asked.
    shard.gate('a').release();
    await shard.pass(100);
    assert.equal(shard.lateCount, 1, 'a round is asked for');
    const heard = await shard.next();
    assert.deepEqual(heard.kinds, ['a refreshed', 'b refreshed']);
    assert.equal(shard.gate('a').listCount, asked + 1, 'the late answer was this round');
    a.removeMachine(idOf(shard, 'a'));
    assert.deepEqual((await shard.next()).kinds, ['a refreshed', 'b refreshed']);
    assert.deepEqual(shard.sizes(), { a: 3, b: 1 });
  }),
);

test(
  'a List that never comes ends at its deadline, is told as silent before, and is asked for again',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 1) });
    await shard.next();
    shard.gate('a').hold();
    const silent: boolean[] = [];
    for (let round = 0; round < 2; round++) {
      const outcome = (await shard.next()).all.get('a');
      assert.ok(outcome?.kind === 'unanswered');
      silent.push(outcome.isSilent);
      await shard.pass(15_000);
    }
    assert.deepEqual(silent, [false, true]);
    await shard.pass(LIST_DEADLINE_MS);
    assert.equal(shard.lateCount, 1);
    assert.deepEqual((await shard.next()).kinds, ['a failed']);
    shard.gate('a').release();
    assert.deepEqual((await shard.next()).kinds, ['a refreshed']);
  }),
);

test(
  'until everybody was heard once, a round waits for all of them',
  inWorld(async (world) => {
    const fakes = { a: slots(world, 'a', 2), b: slots(world, 'b', 2) };
    const shard = new Shard(world, fakes);
    shard.isPatient = true;
    shard.gate('a').hold();
    const round = shard.next();
    await shard.pass(20 * PATIENCE_MS);
    assert.deepEqual(shard.sizes(), { a: 0, b: 2 }, 'b is taken in meanwhile');
    assert.deepEqual(shard.heard, ['b'], 'and that is told at once');
    shard.isPatient = false;
    const { kinds, tookMs } = await round;
    assert.deepEqual(kinds, ['a unanswered', 'b refreshed']);
    assert.ok(tookMs < 20 * PATIENCE_MS + 1_100, 'it looks every second whether it still has to');
    shard.gate('a').release();
    await shard.pass(100);
    assert.deepEqual(shard.sizes(), { a: 2, b: 2 });
  }),
);

test(
  'what is being taken in is waited for, however long it takes',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 3) });
    shard.apply = async (batch) => {
      await shard.pass(10 * PATIENCE_MS);
      shard.inventory.apply(batch);
    };
    const { kinds, tookMs } = await shard.next();
    assert.deepEqual(kinds, ['a refreshed']);
    assert.ok(tookMs >= 10 * PATIENCE_MS);
    assert.deepEqual(shard.sizes(), { a: 3 });
  }),
);

test(
  'a List may not undo what was written after it was asked for',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 3) });
    await shard.next();
    const id = idOf(shard, 'a');
    const other = shard.inventory.machine(id) ?? assert.fail();
    shard.inventory.inventory.put({ ...other, pricePerHour: 77 }, shard.nowMs);
    shard.inventory.touched.add(id);
    const source = shard.set.get('a') ?? assert.fail();
    source.lookAgain();
    await shard.next();
    assert.equal(shard.inventory.machine(id)?.pricePerHour, 77);
    shard.inventory.touched.clear();
    const { all } = await shard.next();
    assert.equal(all.get('a')?.kind, 'refreshed');
    assert.equal(shard.inventory.machine(id)?.pricePerHour, other.pricePerHour, 'it comes again');
  }),
);

test(
  'a bug in one provider’s taking in ends its round, and the next one goes on',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 2) });
    const boom = new Error('a bug');
    shard.apply = () => {
      throw boom;
    };
    await assert.rejects(shard.next(), boom);
    shard.apply = (batch) => shard.inventory.apply(batch);
    assert.deepEqual((await shard.next()).kinds, ['a refreshed']);
    assert.deepEqual(shard.sizes(), { a: 2 });
  }),
);

test(
  'a provider that left says nothing any more, and its successor waits for it',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 2) });
    shard.gate('a').hold();
    assert.deepEqual((await shard.next()).kinds, ['a unanswered']);
    shard.set.remove('a');
    assert.deepEqual((await shard.next()).kinds, []);
    shard.set.add(shard.source('a'));
    assert.deepEqual((await shard.next()).kinds, []);
    assert.equal(shard.gate('a').listCount, 1, 'two Lists under one name never overlap');
    shard.gate('a').release();
    await shard.pass(100);
    assert.deepEqual((await shard.next()).kinds, []);
    assert.deepEqual((await shard.next()).kinds, ['a refreshed']);
  }),
);

test(
  'stop ends a List that hangs, and a round that waits for it',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 1) });
    shard.isPatient = true;
    shard.gate('a').hold();
    const round = shard.next();
    await shard.pass(100);
    const startMs = shard.nowMs;
    await shard.rounds.stop();
    await round;
    assert.ok(shard.nowMs - startMs < 100, `${shard.nowMs - startMs}`);
    assert.equal(shard.lateCount, 0);
  }),
);

test(
  'a provider that refuses at the start is asked again until it is heard',
  inWorld(async (world) => {
    const [a, b] = [slots(world, 'a', 4), slots(world, 'b', 4)];
    const shard = new Shard(world, { a, b });
    shard.isPatient = true;
    world.network.apply({ kind: 'crash', host: 'a' });
    const round = shard.next();
    await shard.pass(20_000);
    assert.deepEqual(shard.heard, ['b']);
    assert.equal(shard.gate('b').listCount, 1, 'who answered is not asked again');
    world.network.apply({ kind: 'restart', host: 'a' });
    world.serve('a', shard.gate('a').before(fakeHandlers(a)));
    const { kinds, tookMs, all } = await round;
    assert.deepEqual(kinds, ['a refreshed', 'b refreshed']);
    assert.ok(tookMs > 20_000 && tookMs < 25_000, `${tookMs}`);
    assert.equal(all.get('a')?.isUnheard, false);
    assert.deepEqual(shard.sizes(), { a: 4, b: 4 });
  }),
);

test(
  'a provider that was never heard keeps the others waiting for a minute, and no longer',
  inWorld(async (world) => {
    const [a, b] = [slots(world, 'a', 4), slots(world, 'b', 4)];
    const shard = new Shard(world, { a, b });
    shard.isPatient = true;
    world.network.apply({ kind: 'crash', host: 'a' });
    const { kinds, tookMs, all } = await shard.next();
    assert.deepEqual(kinds, ['a failed', 'b refreshed']);
    assert.ok(tookMs >= UNHEARD_PATIENCE_MS && tookMs < UNHEARD_PATIENCE_MS + 5_000, `${tookMs}`);
    assert.equal(all.get('a')?.isUnheard, true);
    const next = await shard.next();
    assert.deepEqual(next.kinds, ['a failed', 'b refreshed']);
    assert.ok(next.tookMs < 5_000, `${next.tookMs}`);
  }),
);

test(
  'a provider that was heard is not waited for when it fails, however patient rounds are',
  inWorld(async (world) => {
    const shard = new Shard(world, { a: slots(world, 'a', 4), b: slots(world, 'b', 4) });
    await shard.next();
    shard.isPatient = true;
    world.network.apply({ kind: 'crash', host: 'a' });
    const { kinds, tookMs } = await shard.next();
    assert.deepEqual(kinds, ['a failed', 'b refreshed']);
    assert.ok(tookMs < 5_000, `${tookMs}`);
  }),
);

function slots(world: VirtualWorld, name: string, count: number): FakeProvider {
  const fake = new FakeProvider({ runtime: world.time.runtimeFor(name), label: name });
  for (const spec of seedSpecs({ provider: name, count })) fake.addSpeculative(spec);
  return fake;
}

function idOf(shard: Shard, provider: string): string {
  const { known } = shard.inventory;
  const [slot] = known.slotsOf(provider);
  return slot === undefined ? assert.fail(`no machine of ${provider}`) : known.idOf(slot);
}

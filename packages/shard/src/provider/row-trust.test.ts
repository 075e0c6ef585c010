// Proves that nothing which a provider said and the fleet could not take in is forgotten: a record
// waits and is offered again without a question, a machine that no row tells about is asked about, and
// a full List takes over where neither does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import { RpcError } from '@bigfleet/wire';
import { fakeHandlers } from '../testing/fake/service.ts';
import type { FakeProvider } from '../testing/fake/fake-provider.ts';
import { ProviderSource, type RefreshOptions } from './provider-source.ts';
import type { ListMode } from './reconcile/list-plan.ts';
import { FAILED_COOL_DOWN_MS } from './reconcile/merge-row.ts';
import { listOf, record, World } from './reconcile/testing/world.ts';
import { type LocalWrites, MAX_DOUBTS, MAX_QUESTIONS, RowTrust } from './row-trust.ts';
import { inWorld, type VirtualWorld } from '../testing/virtual-world.ts';

/** A shard with an incremental source, and a count of what it asks. */
class Shard {
  readonly world = new World();
  readonly source: ProviderSource;
  readonly asked: string[] = [];
  rowCount = 0;
  writes: LocalWrites = { touched: [], doubted: [] };
  readonly #virtual: VirtualWorld;

  /** What happens at the provider right after it answered a Get. */
  afterGet: () => Promise<unknown> = () => Promise.resolve();

  constructor(virtual: VirtualWorld, host: string, mode: ListMode = 'incremental') {
    this.#virtual = virtual;
    const inner = virtual.client(host);
    this.source = new ProviderSource({
      name: 'a',
      mode,
      provider: {
        create: (id) => inner.create(id),
        configure: (order) => inner.configure(order),
        drain: (order) => inner.drain(order),
        delete: (id) => inner.delete(id),
        get: async (id, limits) => {
          this.asked.push(`get ${id}`);
          const answer = await inner.get(id, limits);
          await this.afterGet();
          return answer;
        },
        list: (request, limits) => {
          this.asked.push(request.sinceRevision === undefined ? 'full' : 'delta');
          return inner.list(request, limits);
        },
      },
    });
  }

  /** What was asked for it. */
  async refresh(): Promise<readonly string[]> {
    this.world.nowMs = this.#virtual.time.nowMs;
    const options: RefreshOptions = {
      known: this.world.known,
      nowMs: this.world.nowMs,
      readAssignment: decodeShardMetadata,
      apply: (batch) => this.world.apply(batch),
      takeWrites: () => {
        const taken = this.writes;
        this.writes = { touched: [], doubted: [] };
        return taken;
      },
    };
    const outcome = await this.source.refresh(options);
    assert.equal(outcome.kind, 'refreshed');
    this.rowCount = outcome.summary.rowCount;
    return this.asked.splice(0);
  }

  stateOf(id: string): number | undefined {
    return this.world.machine(id)?.state;
  }

  /** As our own action would: the fleet writes, and reconcile hears of it. */
  write(id: string, state: 2 | 3, kind: 'touched' | 'doubted'): void {
    const machine = this.world.machine(id);
    assert.ok(machine !== undefined);
    const change = { kind: 'refreshed' as const, machine: { ...machine, state } };
    this.world.apply({ changes: [change], rejected: [] });
    this.writes = { touched: [id], doubted: kind === 'doubted' ? [id] : [] };
  }
}

async function started(
  virtual: VirtualWorld,
  count: number,
  mode: ListMode = 'incremental',
): Promise<{ shard: Shard; fake: FakeProvider; ids: readonly string[] }> {
  const fake = virtual.fake('a', count, { instantTransitions: true });
  const shard = new Shard(virtual, 'a', mode);
  assert.deepEqual(await shard.refresh(), ['full']);
  return { shard, fake, ids: shard.world.inventory.ids.filter((id) => id !== '') };
}

test(
  'a call whose result nobody knows is asked about; a known one is not',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 3);
    const [a = '', b = ''] = ids;
    shard.write(a, State.Creating, 'doubted');
    assert.deepEqual(await shard.refresh(), [`get ${a}`, 'delta']);
    assert.equal(shard.stateOf(a), State.Speculative, 'the call never arrived');
    shard.write(b, State.Creating, 'touched');
    assert.deepEqual(await shard.refresh(), ['delta']);
    assert.equal(shard.stateOf(b), State.Creating);
  }),
);

test(
  'what a Get said is not taken for what the last List said',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 2);
    const [id = ''] = ids;
    const client = virtual.client('a');
    await client.create(id);
    shard.writes = { touched: [], doubted: [id] };
    shard.afterGet = () => client.delete(id);
    assert.deepEqual(await shard.refresh(), [`get ${id}`, 'delta']);
    assert.equal(
      shard.stateOf(id),
      State.Speculative,
      'as in the first List, and news all the same',
    );
  }),
);

test(
  'what a Get said of a machine that an action took hold of meanwhile waits as a record of a List does',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 2);
    const [id = ''] = ids;
    shard.write(id, State.Creating, 'doubted');
    shard.afterGet = async () => shard.world.pending.set(id, 'in_flight');
    assert.deepEqual(await shard.refresh(), [`get ${id}`, 'delta']);
    assert.equal(shard.stateOf(id), State.Creating);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), ['delta'], 'it is not asked about twice');
    assert.equal(shard.stateOf(id), State.Speculative);
  }),
);

test(
  'full Lists ask nobody: what was skipped, and what we wrote, is looked at in the next one',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 3, 'full');
    const [skipped = '', written = ''] = ids;
    shard.world.pending.set(skipped, 'in_flight');
    await virtual.client('a').create(skipped);
    assert.deepEqual(await shard.refresh(), ['full']);
    assert.equal(shard.stateOf(skipped), State.Speculative);
    shard.world.pending.delete(skipped);
    shard.write(written, State.Creating, 'doubted');
    assert.deepEqual(await shard.refresh(), ['full']);
    assert.deepEqual(
      [shard.stateOf(skipped), shard.stateOf(written)],
      [State.Idle, State.Speculative],
    );
  }),
);

test(
  'a machine that we declared Failed is asked about when its cool-down is over',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 2);
    const [id = ''] = ids;
    shard.world.failedHere.set(id, virtual.time.nowMs);
    shard.writes = { touched: [id], doubted: [id] };
    assert.deepEqual(await shard.refresh(), ['delta']);
    await new Promise<void>((resolve) => {
      virtual.time.runtime.timers.after(FAILED_COOL_DOWN_MS, resolve);
    });
    assert.deepEqual(await shard.refresh(), [`get ${id}`, 'delta']);
  }),
);

test(
  'a machine in doubt that is gone, or an unanswered question: a full List decides at once',
  inWorld(async (virtual) => {
    const { shard, fake, ids } = await started(virtual, 4);
    const [gone = '', mute = ''] = ids;
    fake.removeMachine(gone);
    shard.writes = { touched: [], doubted: [gone] };
    assert.deepEqual(await shard.refresh(), [`get ${gone}`, 'full']);
    assert.equal(shard.stateOf(gone), undefined);
    const handlers = fakeHandlers(fake);
    virtual.serve('b', {
      ...handlers,
      get: () => Promise.reject(new RpcError('UNAVAILABLE', 'try later')),
    });
    const other = new Shard(virtual, 'b');
    await other.refresh();
    other.writes = { touched: [], doubted: [mute] };
    assert.deepEqual(await other.refresh(), [`get ${mute}`, 'full']);
    assert.deepEqual(await other.refresh(), ['delta'], 'the List has spoken of it');
  }),
);

test(
  'offered again with every delta until the action is over, beside what changed since, without a question',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 4);
    const [id = '', other = '', third = ''] = ids;
    const client = virtual.client('a');
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    assert.deepEqual([await shard.refresh(), shard.rowCount], [['delta'], 1]);
    assert.equal(shard.stateOf(id), State.Speculative, 'not taken in, and the cursor is past it');
    await client.create(other);
    assert.deepEqual([await shard.refresh(), shard.rowCount], [['delta'], 2]);
    assert.equal(shard.stateOf(id), State.Speculative);
    shard.world.pending.delete(id);
    await client.create(third);
    assert.deepEqual([await shard.refresh(), shard.rowCount], [['delta'], 2]);
    assert.deepEqual(
      ids.slice(0, 3).map((each) => shard.stateOf(each)),
      [State.Idle, State.Idle, State.Idle],
    );
    assert.deepEqual([await shard.refresh(), shard.rowCount], [['delta'], 0], 'it waits no more');
  }),
);

test(
  'taken in as the provider says it now, not as it was when it could not be taken in',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 2);
    const [id = ''] = ids;
    const client = virtual.client('a');
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    await shard.refresh();
    await client.delete(id);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), ['delta']);
    assert.equal(shard.stateOf(id), State.Speculative);
  }),
);

test(
  'a machine that is gone leaves with the next full List, also when its record waited: no delta tells',
  inWorld(async (virtual) => {
    const { shard, fake, ids } = await started(virtual, 4);
    const [id = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await virtual.client('a').create(id);
    await shard.refresh();
    fake.removeMachine(id);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), ['delta']);
    assert.equal(shard.stateOf(id), State.Idle, 'its last record, as of every machine at rest');
    shard.source.lookAgain();
    assert.deepEqual(await shard.refresh(), ['full']);
    assert.equal(shard.stateOf(id), undefined);
  }),
);

test(
  'a record of a full List waits like one of a delta, however long the action takes',
  inWorld(async (virtual) => {
    const { shard, ids } = await started(virtual, 3);
    const [id = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await virtual.client('a').create(id);
    shard.source.lookAgain();
    assert.deepEqual(await shard.refresh(), ['full']);
    for (let delta = 0; delta < 20; delta++) assert.deepEqual(await shard.refresh(), ['delta']);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), ['delta']);
    assert.equal(shard.stateOf(id), State.Idle);
  }),
);

test(
  'a machine that a full List omits while an action is under way is not forgotten',
  inWorld(async (virtual) => {
    const { shard, fake, ids } = await started(virtual, 4);
    const [id = ''] = ids;
    fake.removeMachine(id);
    shard.world.pending.set(id, 'in_flight');
    shard.source.lookAgain();
    assert.deepEqual(await shard.refresh(), ['full']);
    assert.equal(shard.stateOf(id), State.Speculative);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), [`get ${id}`, 'full']);
    assert.equal(shard.stateOf(id), undefined);
  }),
);

test('bounds: beyond so many questions, or so many doubts, a full List is the question', () => {
  const world = new World();
  const ids = Array.from({ length: MAX_QUESTIONS + 1 }, (_, index) => `m${index}`);
  world.reconcile(listOf(...ids.map((id) => record(id, State.Idle))));
  const trust = new RowTrust();
  const doubt = (...doubted: readonly string[]): void => trust.wrote({ touched: [], doubted });
  const nothing = {
    rows: new Uint32Array(0),
    waiting: new Uint8Array(0),
    isOverfull: false,
    keptIds: [],
  };
  doubt(...ids.slice(1));
  assert.equal(trust.due(world.known, 0).length, MAX_QUESTIONS);
  doubt(...ids);
  assert.equal(trust.due(world.known, 0), 'too_many');
  trust.asked(['m0'], nothing);
  assert.notEqual(trust.due(world.known, 0), 'too_many');
  doubt(...Array.from({ length: MAX_DOUBTS }, (_, index) => `unknown-${index}`));
  assert.equal(trust.due(world.known, 0), 'too_many');
  trust.offered(nothing, { isFull: false });
  assert.equal(trust.due(world.known, 0), 'too_many', 'a delta settles no doubt');
  trust.offered(nothing, { isFull: true });
  assert.deepEqual(trust.due(world.known, 0), []);
  doubt('unknown');
  assert.deepEqual(trust.due(world.known, 0), [], 'a machine that left is in no doubt');
});

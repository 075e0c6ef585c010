// Proves that a row which went unheard is brought again by the cursor of before, without a single
// question, as soon as it can be heard; and that what such a List cannot bring is asked about.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import fc from 'fast-check';
import { ProviderSource, type RefreshOptions } from './provider-source.ts';
import { World } from './reconcile/testing/world.ts';
import { MAX_AGE_DELTAS, MAX_SKIPPED, SkippedRows } from './skipped-rows.ts';
import { inWorld, type VirtualWorld } from './testing/virtual-world.ts';

/** A shard with an incremental source, and a note of what it asks. */
class Shard {
  readonly world = new World();
  readonly source: ProviderSource;
  readonly #asked: string[] = [];
  readonly #virtual: VirtualWorld;

  constructor(virtual: VirtualWorld) {
    this.#virtual = virtual;
    const inner = virtual.client('a');
    this.source = new ProviderSource({
      name: 'a',
      mode: 'incremental',
      provider: {
        create: (id) => inner.create(id),
        configure: (order) => inner.configure(order),
        drain: (order) => inner.drain(order),
        delete: (id) => inner.delete(id),
        get: (id, limits) => {
          this.#asked.push(`get ${id}`);
          return inner.get(id, limits);
        },
        list: (request, limits) => {
          this.#asked.push(request.sinceRevision === undefined ? 'full' : 'delta');
          return inner.list(request, limits);
        },
      },
    });
  }

  /** What was asked, and how many rows came. */
  async refresh(): Promise<readonly [string, number]> {
    this.world.nowMs = this.#virtual.time.nowMs;
    const options: RefreshOptions = {
      known: this.world.known,
      nowMs: this.world.nowMs,
      readAssignment: decodeShardMetadata,
      apply: (batch) => this.world.apply(batch),
    };
    const outcome = await this.source.refresh(options);
    assert.equal(outcome.kind, 'refreshed');
    return [this.#asked.splice(0).join(', '), outcome.summary.rowCount];
  }

  stateOf(id: string): number | undefined {
    return this.world.machine(id)?.state;
  }
}

async function started(virtual: VirtualWorld, count: number) {
  const fake = virtual.fake('a', count, { instantTransitions: true });
  const shard = new Shard(virtual);
  assert.deepEqual(await shard.refresh(), ['full', count]);
  const ids = shard.world.inventory.ids.filter((id) => id !== '');
  return { shard, fake, ids, client: virtual.client('a') };
}

test(
  'brought again when the action is over, with all that changed since, and asked for by nobody',
  inWorld(async (virtual) => {
    const { shard, ids, client } = await started(virtual, 4);
    const [id = '', other = '', third = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    assert.deepEqual(await shard.refresh(), ['delta', 1]);
    assert.equal(shard.stateOf(id), State.Speculative, 'skipped, and the cursor is past it');
    await client.create(other);
    assert.deepEqual(await shard.refresh(), ['delta', 1], 'not brought while it is not heard');
    assert.equal(shard.source.doubtCount, 1);
    shard.world.pending.delete(id);
    await client.create(third);
    assert.deepEqual(await shard.refresh(), ['delta', 3]);
    assert.deepEqual(
      ids.slice(0, 3).map((each) => shard.stateOf(each)),
      [State.Idle, State.Idle, State.Idle],
    );
    assert.equal(shard.source.doubtCount, 0);
    assert.deepEqual(await shard.refresh(), ['delta', 0], 'and the cursor moves on');
  }),
);

test(
  'brought as it is then, not as it was when it went unheard',
  inWorld(async (virtual) => {
    const { shard, ids, client } = await started(virtual, 2);
    const [id = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    await shard.refresh();
    await client.delete(id);
    shard.world.pending.delete(id);
    await shard.refresh();
    assert.equal(shard.stateOf(id), State.Speculative);
    assert.equal(shard.source.doubtCount, 0);
  }),
);

test(
  'a machine that is gone is not brought again: it is asked about, and a full List decides',
  inWorld(async (virtual) => {
    const { shard, fake, ids, client } = await started(virtual, 4);
    const [id = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    await shard.refresh();
    fake.removeMachine(id);
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), ['delta', 0]);
    assert.equal(shard.source.doubtCount, 1);
    assert.deepEqual(await shard.refresh(), [`get ${id}, full`, 3]);
    assert.equal(shard.stateOf(id), undefined);
  }),
);

test(
  'a machine that stays unheard for long is asked about: a cursor does not grow old',
  inWorld(async (virtual) => {
    const { shard, ids, client } = await started(virtual, 2);
    const [id = ''] = ids;
    shard.world.pending.set(id, 'in_flight');
    await client.create(id);
    for (let delta = 0; delta <= MAX_AGE_DELTAS; delta++) await shard.refresh();
    shard.world.pending.delete(id);
    assert.deepEqual(await shard.refresh(), [`get ${id}, delta`, 0]);
    assert.equal(shard.stateOf(id), State.Idle);
  }),
);

test(
  'skipped again while others are heard: the old cursor serves until its age, then a question',
  inWorld(async (virtual) => {
    const { shard, ids, client } = await started(virtual, 2 * MAX_AGE_DELTAS);
    const [stuck = '', ...others] = ids;
    shard.world.pending.set(stuck, 'in_flight');
    await client.create(stuck);
    const rows: number[] = [];
    for (const id of others) {
      shard.world.pending.set(id, 'in_flight');
      await client.create(id);
      const [, rowCount] = await shard.refresh();
      rows.push(rowCount);
      shard.world.pending.delete(id);
    }
    // The stuck one, and one more for each delta that the cursor may be old, and the new one.
    assert.equal(Math.max(...rows), 1 + MAX_AGE_DELTAS + 1, 'what is brought twice is bounded');
    shard.world.pending.delete(stuck);
    assert.equal((await shard.refresh())[0], `get ${stuck}, delta`);
    await shard.refresh();
    assert.ok(ids.every((id) => shard.stateOf(id) === State.Idle));
  }),
);

test('more machines than there is room for are handed back', () => {
  const skipped = new SkippedRows();
  const ids = Array.from({ length: MAX_SKIPPED + 2 }, (_, at) => `m${at}`);
  const isListed = (): boolean => true;
  const since = Uint8Array.of(1);
  assert.deepEqual(skipped.applied({ since, isListed, skippedIds: ids }), ids.slice(MAX_SKIPPED));
  assert.equal(skipped.count, MAX_SKIPPED);
});

const MACHINES = 6;

/** One delta: where it is asked from, what it lists, what of it goes unheard. */
const deltas = fc.array(
  fc.record({
    askable: fc.uniqueArray(fc.nat(MACHINES - 1)),
    listed: fc.uniqueArray(fc.nat(MACHINES - 1)),
    skipped: fc.uniqueArray(fc.nat(MACHINES - 1)),
  }),
  { maxLength: 40 },
);

test('property: what went unheard is heard, handed back, or still known', (context) => {
  const property = fc.property(deltas, (steps) => {
    const skipped = new SkippedRows();
    const open = new Set<string>();
    for (const [at, step] of steps.entries()) {
      const name = (number: number): string => `m${number}`;
      const askable = new Set(step.askable.map(name));
      const again = skipped.since((id) => askable.has(id));
      const listed = new Set([...step.listed, ...step.skipped].map(name));
      const skippedIds = step.skipped.map(name);
      const since = again ?? Uint8Array.of(at);
      const lost = skipped.applied({ since, isListed: (id) => listed.has(id), skippedIds });
      // A List from the old cursor that lists a machine, and does not skip it, was heard.
      if (again !== undefined) for (const id of listed) open.delete(id);
      for (const id of skippedIds) open.add(id);
      for (const id of lost) open.delete(id);
      for (const id of open) {
        assert.notEqual(
          skipped.since((each) => each === id),
          undefined,
          `${id} is forgotten`,
        );
      }
      assert.ok(skipped.count <= MACHINES, 'a machine is known once');
      const all = skipped.since(() => true);
      assert.equal(all === undefined, skipped.count === 0);
    }
  });
  const seed = 7_741;
  context.diagnostic(`seed ${seed}`);
  fc.assert(property, { seed, numRuns: 500 });
});

// What every storage engine does (coordinator §3), as one suite: called with a stage that starts
// stores on one durable place, it registers its tests under that engine's name. It uses nothing but
// the `Store` interface and the real state machine, so that engines cannot differ in meaning.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { CommandBody } from '../../state/commands.ts';
import { decide } from '../../state/decide/decide.ts';
import { FleetState } from '../../state/fleet-state.ts';
import { arbitraryCommand } from '../../state/testing/arbitrary-commands.ts';
import { StateMachine } from '../../state/testing/state-machine.ts';
import type { LoadedState } from '../../state/rows.ts';
import { encodeLogical } from '../logical-snapshot.ts';
import type { CommitRequest, CommitResult, Leadership, Store } from '../store.ts';

/** One durable place; it is gone after the test. */
export interface StoreStage {
  /**
   * A store of a new process on that place. For engines of one process the earlier one was closed.
   * The suite opens it.
   */
  store(options: { readonly bootstrap: boolean }): Store;
  /** Monotonic, as `CommitRequest.deadlineMs` counts. */
  nowMs(): number;
}

export interface BehaviourOptions {
  readonly engine: string;
  readonly stage: (context: TestContext) => Promise<StoreStage>;
  /** Random streams per engine; each is a fresh place. */
  readonly streams?: number;
}

const SIGNAL_MS = 60_000;
const STREAM_LENGTH = 40;

const shard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: `${id}:1`,
  registeredAtMs: 1,
});

/** A leader that applies commands by hand, so that each store call is in the test's control. */
class Hand {
  readonly store: Store;
  readonly leadership: Leadership;
  readonly state: FleetState;
  readonly #stage: StoreStage;

  constructor(stage: StoreStage, store: Store, leadership: Leadership, loaded: LoadedState) {
    this.#stage = stage;
    this.store = store;
    this.leadership = leadership;
    this.state = new FleetState(loaded);
  }

  request(body: CommandBody, issuedAtMs = 1): CommitRequest | undefined {
    const expectedIndex = this.state.meta.applyIndex;
    const commandId = `c${expectedIndex + 1}`;
    const decision = decide(this.state, { ...body, commandId, issuedAtMs }, expectedIndex + 1);
    if (decision.kind !== 'change') return undefined;
    const deadlineMs = this.#stage.nowMs() + SIGNAL_MS;
    return { expectedIndex, commandId, change: decision.change, deadlineMs };
  }

  async apply(body: CommandBody, issuedAtMs = 1): Promise<CommitResult | undefined> {
    const request = this.request(body, issuedAtMs);
    if (request === undefined) return undefined;
    const result = await this.store.commit(this.leadership, request);
    if (result.kind === 'committed') this.state.install(request.change, request.commandId);
    return result;
  }

  mustRequest(body: CommandBody): CommitRequest {
    return this.request(body) ?? assert.fail(`${body.kind} was refused`);
  }
}

async function lead(stage: StoreStage, store: Store, termFloor?: bigint): Promise<Hand> {
  const never = new AbortController().signal;
  const leadership = await store.campaign(never, termFloor);
  return new Hand(stage, store, leadership, await store.load(leadership));
}

async function start(stage: StoreStage, bootstrap = true): Promise<Hand> {
  const store = stage.store({ bootstrap });
  assert.equal(await store.open(), 'ready');
  return lead(stage, store);
}

const COMMITTED: CommitResult = { kind: 'committed' };
const byKey = (loaded: LoadedState): unknown =>
  [...loaded.rows].sort((a, b) => (a.key < b.key ? -1 : 1));

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

export function storeBehaviour(options: BehaviourOptions): void {
  const { engine, stage: makeStage } = options;
  const it = (name: string, body: (stage: StoreStage) => Promise<void>): void => {
    test(`${engine}: ${name}`, async (context) => body(await makeStage(context)));
  };

  it('an empty store is not led without --bootstrap, and is with it', async (stage) => {
    const timid = stage.store({ bootstrap: false });
    assert.equal(await timid.open(), 'empty');
    await assert.rejects(timid.campaign(new AbortController().signal), {
      code: 'coordinator_store_empty',
      message: 'store is empty and --bootstrap is not set',
    });
    await timid.close();
    const hand = await start(stage);
    assert.equal(hand.state.meta.applyIndex, 0);
    assert.deepEqual(hand.state.shards(), []);
    assert.ok(hand.leadership.term >= 1n);
    assert.equal(hand.state.meta.term, hand.leadership.term);
    assert.equal(await hand.store.snapshot('logical'), undefined, 'nothing to save');
    await hand.store.close();
    const later = await start(stage, false);
    assert.equal(later.state.meta.clusterUid, hand.state.meta.clusterUid);
    await later.store.close();
  });

  it('what was acknowledged is there after a restart, with its index', async (stage) => {
    const first = await start(stage);
    assert.deepEqual(await first.apply(shard('a')), COMMITTED);
    assert.deepEqual(await first.apply(shard('b')), COMMITTED);
    assert.deepEqual(await first.apply({ kind: 'RemoveShard', id: 'a' }), COMMITTED);
    await first.store.close();
    const second = await start(stage, false);
    assert.deepEqual(second.state.shards(), first.state.shards());
    assert.deepEqual({ ...second.state.meta, term: 0n }, { ...first.state.meta, term: 0n });
    assert.equal((await second.store.status()).applyIndex, 3);
    await second.store.close();
  });

  it('the term rises with each leadership and above a floor', async (stage) => {
    const first = await start(stage);
    const again = await lead(stage, first.store);
    assert.ok(again.leadership.term > first.leadership.term);
    assert.equal(first.leadership.lost.aborted, true);
    const high = await lead(stage, first.store, again.leadership.term + 5_000n);
    assert.ok(high.leadership.term > again.leadership.term + 5_000n);
    await first.store.close();
    const restarted = await start(stage, false);
    assert.ok(restarted.leadership.term > high.leadership.term);
    await restarted.store.close();
  });

  it('a leadership that is over neither writes, sweeps, loads nor is confirmed', async (stage) => {
    const old = await start(stage);
    await old.apply(shard('a'));
    const current = await lead(stage, old.store);
    const { store } = current;
    assert.deepEqual(await old.apply(shard('b')), { kind: 'refused', reason: 'deposed' });
    assert.equal(await store.confirm(old.leadership), 'deposed');
    assert.equal(await store.resolve(old.leadership, old.mustRequest(shard('b'))), 'deposed');
    await assert.rejects(store.gc(old.leadership, ['shards/a']), { code: 'coordinator_deposed' });
    await assert.rejects(store.load(old.leadership), { code: 'coordinator_deposed' });
    assert.equal(await store.confirm(current.leadership), 'leading');
    const { rows } = await store.load(current.leadership);
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['shards/a'],
    );
    await store.close();
  });

  it('a commit on another index writes nothing at all', async (stage) => {
    const hand = await start(stage);
    await hand.apply(shard('a'));
    const request = hand.mustRequest(shard('b'));
    for (const expectedIndex of [0, 2, 7]) {
      const result = await hand.store.commit(hand.leadership, { ...request, expectedIndex });
      assert.deepEqual(result, { kind: 'refused', reason: 'index_moved' });
    }
    const loaded = await hand.store.load(hand.leadership);
    assert.equal(loaded.meta.applyIndex, 1);
    assert.deepEqual(
      loaded.rows.map(({ key }) => key),
      ['shards/a'],
    );
    assert.deepEqual(await hand.store.commit(hand.leadership, request), COMMITTED);
    await hand.store.close();
  });

  it('an unknown outcome is resolved by what is stored', async (stage) => {
    const hand = await start(stage);
    const request = hand.mustRequest(shard('a'));
    const { store, leadership } = hand;
    assert.equal(await store.resolve(leadership, request), 'not-committed');
    assert.deepEqual(await store.commit(leadership, request), COMMITTED);
    assert.equal(await store.resolve(leadership, request), 'committed');
    const foreign = { ...request, commandId: 'another' };
    assert.equal(await store.resolve(leadership, foreign), 'deposed');
    await store.close();
  });

  it('sweeping deletes rows and leaves the index', async (stage) => {
    const hand = await start(stage);
    await hand.apply(shard('a'));
    await hand.apply({ kind: 'AssignDomain', domain: { key: 'k/%', value: 'v' }, shard: 'a' });
    await hand.apply({ kind: 'RemoveShard', id: 'a' });
    const dead = hand.state.dangling();
    assert.deepEqual(dead, ['domains/k%2F%25/v']);
    await hand.store.gc(hand.leadership, dead);
    await hand.store.gc(hand.leadership, dead);
    const loaded = await hand.store.load(hand.leadership);
    assert.deepEqual([loaded.rows, loaded.meta.applyIndex], [[], 3]);
    hand.state.forget(dead);
    await hand.apply(shard('b'));
    const again = await hand.apply({
      kind: 'AssignDomain',
      domain: { key: 'k/%', value: 'v' },
      shard: 'b',
    });
    assert.deepEqual(again, COMMITTED, 'a swept key can be written anew');
    await hand.store.close();
  });

  it('the hint names the leader while it leads; resigning ends it at once', async (stage) => {
    const hand = await start(stage);
    const hint = (await hand.store.leader()) ?? assert.fail('nobody leads');
    assert.equal(hint.term, hand.leadership.term);
    assert.notEqual(hint.nodeId, '');
    await hand.store.resign(hand.leadership);
    assert.equal(hand.leadership.lost.aborted, true);
    assert.equal(hand.leadership.isWithinWindow(), false);
    assert.equal(await hand.store.leader(), undefined);
    assert.deepEqual(await hand.apply(shard('a')), { kind: 'refused', reason: 'deposed' });
    await hand.store.close();
  });

  it('a campaign that is called off does not lead', async (stage) => {
    const hand = await start(stage);
    const reason = new Error('called off');
    await assert.rejects(hand.store.campaign(AbortSignal.abort(reason)), reason);
    await hand.store.close();
  });

  it('a logical snapshot is the live state, dead rows left out', async (stage) => {
    const hand = await start(stage);
    for (const body of [
      shard('a'),
      shard('__proto__'),
      { kind: 'BindCluster', cluster: '__proto__', shard: 'a', force: false } as const,
      { kind: 'BindCluster', cluster: 'gone', shard: '__proto__', force: false } as const,
      { kind: 'RemoveShard', id: '__proto__' } as const,
    ])
      assert.deepEqual(await hand.apply(body), COMMITTED);
    const snapshot = (await hand.store.snapshot('logical')) ?? assert.fail('no snapshot');
    assert.deepEqual(
      [snapshot.format, snapshot.meta.applyIndex, snapshot.meta.term, snapshot.meta.clusterUid],
      ['logical-json', 5, hand.leadership.term, hand.state.meta.clusterUid],
    );
    const text = await bytesOf(snapshot.bytes);
    assert.equal(text, encodeLogical(hand.state));
    assert.doesNotMatch(text, /gone/);
    await hand.store.close();
  });

  test(`${engine}: random command streams give the state of the pure machine`, async (context) => {
    const streams = fc.array(arbitraryCommand, { minLength: 5, maxLength: STREAM_LENGTH });
    await fc.assert(
      fc.asyncProperty(streams, async (stream) => {
        const stage = await makeStage(context);
        const hand = await start(stage);
        const machine = new StateMachine();
        for (const body of stream) {
          const expected = machine.apply(body);
          const result = await hand.apply(body, machine.nowMs);
          assert.equal(result?.kind === 'committed', expected.kind === 'applied', body.kind);
        }
        const loaded = await hand.store.load(hand.leadership);
        const { term, clusterUid } = machine.state.meta;
        const meta = { ...loaded.meta, term, clusterUid };
        assert.deepEqual(byKey(loaded), byKey(machine.loaded()));
        assert.equal(
          encodeLogical(new FleetState({ meta, rows: loaded.rows })),
          encodeLogical(machine.state),
        );
        await hand.store.close();
      }),
      { numRuns: options.streams ?? 30 },
    );
  });
}

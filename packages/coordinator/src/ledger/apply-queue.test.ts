// Proves the apply path (coordinator §2.5, §3.5): order, bounds, stamping, and that memory equals
// the store after every kind of refusal, failure, unknown outcome and crash.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import fc from 'fast-check';
import type { CommandBody } from '../state/commands.ts';
import { FleetState } from '../state/fleet-state.ts';
import { encodeRow } from '../state/row-format.ts';
import { arbitraryCommand } from '../state/testing/arbitrary-commands.ts';
import { encodeLogical } from '../store/logical-snapshot.ts';
import type { Leadership } from '../store/store.ts';
import {
  type CommitFault,
  MemoryStore,
  type MemoryStoreOptions,
} from '../store/testing/memory-store.ts';
import { type ApplyOutcome, type ApplyQueue, openLedger } from './apply-queue.ts';
import type { ApplyResult } from './ledger.ts';

const never = new AbortController().signal;
const shard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: `${id}:1`,
  registeredAtMs: 1,
});

interface Rig {
  readonly time: VirtualRuntime;
  readonly store: MemoryStore;
  readonly ledger: ApplyQueue;
  readonly outcomes: ApplyOutcome[];
  readonly lines: readonly string[];
  /** Runs virtual time until the promise has settled. */
  done<T>(promise: Promise<T>): Promise<T>;
}

async function rig(
  options: Partial<MemoryStoreOptions> = {},
  prepare: (held: Leadership) => void = () => {},
): Promise<Rig> {
  const time = createVirtualRuntime({ seed: 'apply', drain: drainMicrotasks });
  const { runtime } = time;
  const store = new MemoryStore({ runtime, ...options });
  const sink = captureSink();
  const outcomes: ApplyOutcome[] = [];
  const leadership = await store.campaign(never);
  prepare(leadership);
  const ledger = await openLedger({
    runtime,
    store,
    leadership,
    log: createLogger({ clock: runtime.clock, sink }),
    onApplied: (outcome) => outcomes.push(outcome),
  });
  const done = async <T>(promise: Promise<T>): Promise<T> => {
    await time.runUntilIdle({ maxEvents: 1_000_000, maxMs: 600_000 });
    return promise;
  };
  return { time, store, ledger, outcomes, lines: sink.lines, done };
}

function memoryEqualsStore({ store, ledger }: Rig): void {
  const { meta } = store.disk;
  assert.ok(meta !== undefined);
  const onDisk = new FleetState({ meta, rows: store.disk.rows() });
  assert.deepEqual({ ...ledger.state.meta, term: 0n }, { ...meta, term: 0n });
  assert.equal(
    encodeLogical(onDisk).replace(/"term":"\d+"/, ''),
    encodeLogical(ledger.state).replace(/"term":"\d+"/, ''),
  );
}

test('a command is stamped, committed, then shown; outcomes are counted', async () => {
  const r = await rig();
  assert.deepEqual(await r.done(r.ledger.apply(shard('a'))), { kind: 'applied', index: 1 });
  const { lastCommandId } = r.ledger.state.meta;
  assert.match(lastCommandId, /^[0-9a-f]{16}-1$/);
  const bind = { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false } as const;
  await r.done(r.ledger.apply(bind));
  assert.equal(r.ledger.state.cluster('c')?.boundAtMs, 1_767_225_600_000);
  assert.notEqual(r.ledger.state.meta.lastCommandId, lastCommandId);
  assert.deepEqual(await r.done(r.ledger.apply(bind)), { kind: 'unchanged' });
  const refused = await r.done(r.ledger.apply(shard('a')));
  assert.equal(refused.kind === 'refused' && refused.refusal.code, 'shard-exists');
  assert.deepEqual(r.outcomes, ['success', 'success', 'success', 'fsm_error']);
  memoryEqualsStore(r);
});

test('commands are committed one at a time, in the order of the calls', async () => {
  const r = await rig({ commitMs: 10 });
  const results = Promise.all(['c', 'a', 'b'].map((id) => r.ledger.apply(shard(id))));
  assert.equal(r.ledger.queued, 2);
  await r.time.runFor(15);
  assert.deepEqual(
    r.ledger.state.shards().map(({ id }) => id),
    ['c'],
  );
  assert.deepEqual(
    await r.done(results),
    [1, 2, 3].map((index) => ({ kind: 'applied', index })),
  );
});

test('a command that comes while the queue falls asleep is not forgotten', async () => {
  for (let hops = 0; hops < 12; hops++) {
    const r = await rig();
    const second = r.ledger.apply(shard('a')).then(async () => {
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      return r.ledger.apply(shard('b'));
    });
    await r.time.runFor(1_000);
    assert.deepEqual(await r.done(second), { kind: 'applied', index: 2 }, `after ${hops} hops`);
  }
});

test('1,024 may wait beside the one in flight; the next is told at once', async () => {
  const r = await rig({ commitMs: 1 });
  const accepted = Array.from({ length: 1_025 }, (_, at) => r.ledger.apply(shard(`s${at}`)));
  assert.deepEqual(await r.ledger.apply(shard('x')), { kind: 'busy' });
  const results = await r.done(Promise.all(accepted));
  assert.ok(results.every(({ kind }) => kind === 'applied'));
});

test('a caller whose deadline passed in the queue wrote nothing', async () => {
  const r = await rig({ commitMs: 100 });
  const first = r.ledger.apply(shard('a'));
  const late = r.ledger.apply(shard('b'), { deadlineMs: 50 });
  await r.done(first);
  const result = await late;
  assert.ok(result.kind === 'unavailable' && result.outcome === 'not-written');
  assert.equal(r.ledger.state.shards().length, 1);
});

test('unknown, in truth committed: the caller hears unknown, memory follows, work goes on', async () => {
  const r = await rig({ commitMs: 10 });
  r.store.commitFaults.push('unknown-after-commit');
  r.store.unresolvedCount = 2;
  const first = r.ledger.apply(shard('a'));
  const second = r.ledger.apply(shard('b'));
  await r.time.runFor(11);
  const told = await first;
  assert.ok(told.kind === 'unavailable' && told.outcome === 'unknown');
  assert.match(told.message, /outcome unknown; safe to retry/);
  assert.equal(r.ledger.state.shard('a'), undefined, 'not before it is known');
  assert.deepEqual(await r.done(second), { kind: 'applied', index: 2 });
  assert.notEqual(r.ledger.state.shard('a'), undefined);
  assert.deepEqual(r.outcomes, ['error', 'success']);
  memoryEqualsStore(r);
});

test('unknown, in truth not committed: dropped, and the index is used by the next', async () => {
  const r = await rig();
  r.store.commitFaults.push('unknown-without-commit');
  const told = await r.done(r.ledger.apply(shard('a')));
  assert.equal(told.kind, 'unavailable');
  assert.deepEqual(await r.done(r.ledger.apply(shard('b'))), { kind: 'applied', index: 1 });
  assert.deepEqual(
    r.ledger.state.shards().map(({ id }) => id),
    ['b'],
  );
  memoryEqualsStore(r);
});

test('an outcome that stays unknown ends the leadership instead of being guessed', async () => {
  const r = await rig();
  r.store.commitFaults.push('unknown-after-commit');
  r.store.unresolvedCount = Number.MAX_SAFE_INTEGER;
  const waiting = [r.ledger.apply(shard('a')), r.ledger.apply(shard('b'))];
  const [told, next] = await r.done(Promise.all(waiting));
  assert.equal(told?.kind, 'unavailable');
  assert.deepEqual(next, { kind: 'not-leader' });
  assert.equal(r.ledger.lost.reason, 'lease_lost');
  assert.equal(r.ledger.state.shard('a'), undefined);
  assert.equal(await r.done(r.ledger.confirm()), 'deposed');
});

test('deposed: nothing is written, everyone is told, the ledger is over', async () => {
  const r = await rig({ commitMs: 10 });
  r.store.commitFaults.push('deposed');
  const results = [r.ledger.apply(shard('a')), r.ledger.apply(shard('b'))];
  assert.deepEqual(await r.done(Promise.all(results)), [
    { kind: 'not-leader' },
    { kind: 'not-leader' },
  ]);
  assert.equal(r.ledger.lost.aborted, true);
  assert.deepEqual(await r.ledger.apply(shard('c')), { kind: 'not-leader' });
  assert.deepEqual(r.store.disk.rows(), []);
});

test('a leadership that ends by itself refuses what waits', async () => {
  const r = await rig({ commitMs: 10 });
  const waiting = [r.ledger.apply(shard('a')), r.ledger.apply(shard('b'))];
  r.store.disk.depose();
  assert.equal((await waiting[1])?.kind, 'not-leader');
  assert.equal((await r.done(waiting[0] ?? assert.fail())).kind, 'not-leader');
  assert.equal(r.ledger.lost.reason, 'lease_lost');
});

test('a lease window that has closed is noticed before anything is sent', async () => {
  let isOpen = true;
  const r = await rig({}, (held) => {
    held.isWithinWindow = () => isOpen;
  });
  let commitCount = 0;
  r.store.commit = () => {
    commitCount += 1;
    return Promise.resolve({ kind: 'committed' });
  };
  await r.done(r.ledger.apply(shard('a')));
  // A stalled loop: its timers have not run yet, so nobody has said that the lease is over.
  isOpen = false;
  assert.deepEqual(await r.done(r.ledger.apply(shard('b'))), { kind: 'not-leader' });
  assert.deepEqual([commitCount, r.ledger.lost.reason], [1, 'lease_lost']);
});

test('another writer moved a row: everything is reloaded and the command runs once more', async () => {
  const r = await rig();
  await r.done(r.ledger.apply(shard('a')));
  const row = { id: 'a', address: 'moved:9', registeredAtMs: 7, uid: 1, maxEpoch: 4n };
  r.store.disk.put({ table: 'shards', key: 'shards/a', value: encodeRow('shards', row) });
  const epoch = { kind: 'RecordShardEpoch', shard: 'a', epoch: 5n } as const;
  assert.deepEqual(await r.done(r.ledger.apply(epoch)), { kind: 'applied', index: 2 });
  assert.deepEqual(r.ledger.state.shard('a'), { ...row, maxEpoch: 5n });
  assert.match(r.lines.join('\n'), /level=ERROR.*another writer/);
  memoryEqualsStore(r);
});

test('the second move under one command steps down', async () => {
  const r = await rig();
  r.store.commitFaults.push('index-moved', 'row-moved');
  assert.deepEqual(await r.done(r.ledger.apply(shard('a'))), { kind: 'not-leader' });
  assert.equal(r.ledger.lost.reason, 'guard_failed');
});

test('a row that cannot be read after a move steps down; the command was not written', async () => {
  const r = await rig();
  r.store.commitFaults.push('row-moved');
  r.store.disk.put({ table: 'shards', key: 'shards/x', value: '{}' });
  const result = await r.done(r.ledger.apply(shard('a')));
  assert.ok(result.kind === 'unavailable' && result.outcome === 'not-written');
  assert.equal(r.ledger.lost.reason, 'guard_failed');
});

test('an engine that cannot write is told to the caller, and tried again by the next', async () => {
  const r = await rig();
  r.store.commitFaults.push('failed');
  assert.deepEqual(await r.done(r.ledger.apply(shard('a'))), {
    kind: 'unavailable',
    outcome: 'not-written',
    message: 'no space left',
  });
  assert.equal((await r.done(r.ledger.apply(shard('a')))).kind, 'applied');
});

test('an engine that never answers is unknown after min(5 s, deadline) and a second', async () => {
  const r = await rig();
  r.store.commit = () => new Promise(() => {});
  const first = r.ledger.apply(shard('a'));
  await r.time.runFor(5_999);
  assert.equal(r.ledger.state.meta.applyIndex, 0);
  const told = await r.done(first);
  assert.ok(told.kind === 'unavailable' && told.outcome === 'unknown');
});

test('dead rows are swept when nobody waits, but not a key that was written anew', async () => {
  const r = await rig({ commitMs: 5 });
  const domain = (value: string): CommandBody => ({
    kind: 'AssignDomain',
    domain: { key: 'k', value },
    shard: 'a',
  });
  const bodies = [shard('a'), domain('old'), domain('again'), { kind: 'RemoveShard', id: 'a' }];
  const rest = [shard('a'), domain('again')];
  await r.done(
    Promise.all([...bodies, ...rest].map((body) => r.ledger.apply(body as CommandBody))),
  );
  assert.deepEqual(
    r.store.disk.rows().map(({ key }) => key),
    ['domains/k/again', 'shards/a'],
  );
  memoryEqualsStore(r);
});

test('dead rows of an earlier leadership are found and swept', async () => {
  const r = await rig();
  await r.done(r.ledger.apply(shard('a')));
  const row = { clusterId: 'c', shardId: 'a', shardUid: 77, boundAtMs: 0 };
  r.store.disk.put({ table: 'clusters', key: 'clusters/c', value: encodeRow('clusters', row) });
  const { runtime } = r.time;
  const log = createLogger({ clock: runtime.clock, sink: captureSink() });
  const leadership = await r.store.campaign(never);
  const next = await openLedger({ runtime, store: r.store, leadership, log });
  await r.done(next.apply(shard('b')));
  assert.deepEqual(
    r.store.disk.rows().map(({ key }) => key),
    ['shards/a', 'shards/b'],
  );
});

test('closing lets the command in flight end and takes nothing more', async () => {
  const r = await rig({ commitMs: 10 });
  const [first, second] = [r.ledger.apply(shard('a')), r.ledger.apply(shard('b'))];
  const closing = r.ledger.close();
  assert.deepEqual(await second, { kind: 'not-leader' });
  assert.deepEqual(await r.ledger.apply(shard('c')), { kind: 'not-leader' });
  await r.done(closing);
  assert.deepEqual(await first, { kind: 'applied', index: 1 });
});

const FAULTS: readonly (CommitFault | 'none')[] = [
  'none',
  'none',
  'none',
  'unknown-after-commit',
  'unknown-without-commit',
  'index-moved',
  'row-moved',
  'failed',
  'deposed',
  'crash-before-commit',
  'crash-after-commit',
];

test('random commands under random faults: acknowledged is stored, memory equals the store', async () => {
  const kinds = new Set<string>();
  const step = fc.record({
    body: arbitraryCommand,
    fault: fc.constantFrom(...FAULTS),
    unresolved: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const r = await rig({ commitMs: 1 });
      for (const { body, fault, unresolved } of steps) {
        if (r.ledger.lost.aborted) break;
        if (fault !== 'none') r.store.commitFaults.push(fault);
        r.store.unresolvedCount = unresolved;
        const before = r.store.disk.meta?.applyIndex ?? 0;
        const pending = r.ledger.apply(body);
        await r.time.runUntilIdle({ maxEvents: 100_000, maxMs: 600_000 });
        const result: ApplyResult = await pending;
        r.store.commitFaults.length = 0;
        kinds.add(result.kind);
        const after = r.store.disk.meta?.applyIndex ?? 0;
        if (result.kind === 'applied') assert.equal(after, result.index);
        if (result.kind === 'refused' || result.kind === 'unchanged') assert.equal(after, before);
        if (result.kind === 'not-leader') assert.equal(after, before);
        if (!r.ledger.lost.aborted) memoryEqualsStore(r);
      }
    }),
    // A draw rarely gets as far as a change that finds the leader deposed.
    { numRuns: 200, examples: [[[{ body: shard('a'), fault: 'deposed', unresolved: 0 }]]] },
  );
  assert.deepEqual([...kinds].sort(), [
    'applied',
    'not-leader',
    'refused',
    'unavailable',
    'unchanged',
  ]);
});

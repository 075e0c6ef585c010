// Proves what the kit relies on: order, shared fsyncs, bounds, exact round trips of hostile strings,
// and agreement with a plain model over random histories.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoreChange } from '../store.ts';
import { StateImage } from '../state-image.ts';
import { createJournalStore, type JournalStoreOptions } from './journal-store.ts';
import type { CommittedBatch } from './options.ts';
import {
  INCARNATION,
  machine,
  PATH,
  scriptedCommit,
  spelled,
  stateAfter,
  stillRuntime,
} from './testing/scripted-commits.ts';
import { SimulatedDisk } from './testing/simulated-disk.ts';

type Extra = Partial<Pick<JournalStoreOptions, 'limits' | 'observer'>>;

function open(disk: SimulatedDisk, extra: Extra = {}): ReturnType<typeof createJournalStore> {
  return createJournalStore({ path: PATH, runtime: stillRuntime, files: disk.files, ...extra });
}

async function openNew(
  disk: SimulatedDisk,
  extra: Extra = {},
): Promise<ReturnType<typeof createJournalStore>> {
  const store = open(disk, extra);
  assert.equal(await store.load(), undefined);
  await store.initialise(INCARNATION);
  return store;
}

test('commits that wait share one fsync and resolve in the order they were made', async () => {
  const disk = new SimulatedDisk();
  const batches: CommittedBatch[] = [];
  const store = await openNew(disk, { observer: { onCommitted: (batch) => batches.push(batch) } });
  const before = disk.events.filter(({ kind }) => kind === 'sync').length;
  const resolved: number[] = [];
  const commits = Array.from({ length: 64 }, (_, index) =>
    store.commit(scriptedCommit(index)).then(() => resolved.push(index)),
  );
  await Promise.all(commits);
  assert.deepEqual(
    resolved,
    Array.from({ length: 64 }, (_, index) => index),
  );
  assert.equal(disk.events.filter(({ kind }) => kind === 'sync').length - before, 1);
  assert.deepEqual(
    batches.map(({ commitCount }) => commitCount),
    [64],
  );
  await store.close();
});

test('a commit is not resolved before its fsync', async () => {
  const disk = new SimulatedDisk();
  const store = await openNew(disk);
  await store.commit(scriptedCommit(0)).then(() => disk.note('acknowledged'));
  const kinds = disk.events.map((event) => event.kind).slice(-3);
  assert.deepEqual(kinds, ['write', 'sync', 'note']);
});

test('what waits is bounded by count and bytes; the refused commit left nothing', async () => {
  for (const limits of [{ maxPendingCommits: 3 }, { maxPendingBytes: 400 }]) {
    const disk = new SimulatedDisk();
    const store = await openNew(disk, { limits });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => store.commit(scriptedCommit(index))),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    assert.ok(refused.length > 0 && refused.length < 8, JSON.stringify(limits));
    for (const outcome of refused) {
      assert.match(String(outcome.status === 'rejected' && outcome.reason), /wait for the disk/);
    }
    const kept = outcomes.flatMap(({ status }, index) =>
      status === 'fulfilled' ? [scriptedCommit(index)] : [],
    );
    await store.close();
    assert.equal(spelled(await open(disk).load()), stateAfter(kept));
  }
});

test('a commit beyond the size of a journal is refused; one beyond a batch goes alone', async () => {
  const disk = new SimulatedDisk();
  const batches: CommittedBatch[] = [];
  const store = await openNew(disk, {
    limits: { maxJournalBytes: 2_000, maxBatchBytes: 100 },
    observer: { onCommitted: (batch) => batches.push(batch) },
  });
  const huge: StoreChange[] = Array.from({ length: 10 }, (_, index) => ({
    kind: 'machine',
    record: machine(`m${index}`, index),
  }));
  await assert.rejects(store.commit(huge), { code: 'store_unavailable' });
  await Promise.all([store.commit(scriptedCommit(0)), store.commit(scriptedCommit(4))]);
  assert.deepEqual(
    batches.map(({ commitCount }) => commitCount),
    [1, 1],
  );
  await store.close();
});

test('a journal that outgrows its bound starts over instead of growing', async () => {
  const disk = new SimulatedDisk();
  const store = await openNew(disk, {
    limits: { maxJournalBytes: 1_000, minCompactBytes: 1 << 30 },
  });
  for (let index = 0; index < 40; index++) await store.commit(scriptedCommit(index));
  const image = disk.state.after({ contents: 'all', entries: 'all' });
  for (const [name, bytes] of image) {
    if (name.includes('.journal.')) assert.ok(bytes.length <= 1_000, `${name}: ${bytes.length}`);
  }
  await store.close();
  const all = Array.from({ length: 40 }, (_, index) => scriptedCommit(index));
  assert.equal(spelled(await open(disk).load()), stateAfter(all));
});

test('closing waits for commits under way, refuses later ones, and may be repeated', async () => {
  const disk = new SimulatedDisk();
  const store = await openNew(disk);
  const pending = store.commit(scriptedCommit(0));
  await store.close();
  await pending;
  await assert.rejects(store.commit(scriptedCommit(1)), { code: 'store_unavailable' });
  await store.close();
  assert.equal(spelled(await open(disk).load()), stateAfter([scriptedCommit(0)]));
});

test('a start cuts off what a crash left of a frame', async () => {
  const disk = new SimulatedDisk();
  const store = await openNew(disk);
  await store.commit(scriptedCommit(0));
  const everything = { contents: 'all', entries: 'all' } as const;
  const image = new Map(disk.state.after(everything));
  const name = 'state.json.journal.1';
  const whole = image.get(name) ?? Buffer.alloc(0);
  image.set(name, Buffer.concat([whole, whole.subarray(20, 60)]));
  const torn = new SimulatedDisk(image);
  assert.equal(spelled(await open(torn).load()), stateAfter([scriptedCommit(0)]));
  assert.equal(torn.state.after(everything).get(name)?.length, whole.length);
});

test('a commit without changes keeps its place and writes nothing', async () => {
  const disk = new SimulatedDisk();
  const store = await openNew(disk);
  const before = disk.events.length;
  await store.commit([]);
  assert.equal(disk.events.length, before);
});

const hostileText = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '\0', 'a\0b', '😀', '\u2028\n\r'),
  fc.constantFrom('\ud800', '"},"checksum":"x', '{"format":1', '\u00ff\u00fe', '4', '04'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const textMap = fc
  .array(fc.tuple(hostileText, hostileText), { maxLength: 4 })
  .map((entries) => new Map(entries));
const id = fc.oneof(
  fc.constantFrom('m1', 'm2', 'm3', '__proto__', 'a:b', '1:', 'create:m1'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const change: fc.Arbitrary<StoreChange> = fc.oneof(
  fc
    .record({
      id,
      maps: fc.tuple(textMap, textMap, textMap),
      text: hostileText,
      bare: fc.boolean(),
    })
    .map(({ id: machineId, maps: [resources, labels, shardMetadata], text, bare }): StoreChange => {
      const { host, ...slot } = machine(machineId, 7);
      return {
        kind: 'machine',
        record: {
          ...slot,
          ...(bare || host === undefined ? {} : { host: { provider: text, ref: text } }),
          ...(bare ? {} : { allocatable: resources, observedProbability: 0.99 }),
          resources,
          labels,
          shardMetadata,
          lastError: text,
          cluster: text,
          pricePerHour: bare ? 0 : 5e-324,
        },
      };
    }),
  id.map((machineId): StoreChange => ({ kind: 'machine-removed', machineId })),
  fc.tuple(hostileText, id, int64, int64).map(
    ([shardId, machineId, epoch, sequence]): StoreChange => ({
      kind: 'fence',
      mark: { shardId, machineId, epoch, sequence },
    }),
  ),
  fc.tuple(id, fc.constantFrom('create', 'configure', 'drain', 'delete'), fc.option(int64)).map(
    ([machineId, kind, grace]): StoreChange => ({
      kind: 'operation',
      operation: {
        machineId,
        kind,
        operationId: `op ${machineId}`,
        ...(grace === null ? {} : { gracePeriodSeconds: grace }),
      },
    }),
  ),
  fc.nat().map((revision): StoreChange => ({ kind: 'revision', revision })),
);

/** One step: commits made at once, or the end of a process, orderly or not. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 5 }),
  },
  { weight: 1, arbitrary: fc.constantFrom('close' as const, 'kill' as const) },
);

test('random histories load what the model holds, whatever ends the process', async () => {
  const history = fc.array(step, { maxLength: 12 });
  const sizes = fc.record({
    minCompactBytes: fc.constantFrom(1, 300, 2_000, 1 << 20),
    maxBatchBytes: fc.constantFrom(1, 500, 1 << 20),
  });
  await fc.assert(
    fc.asyncProperty(history, sizes, async (steps, limits) => {
      let disk = new SimulatedDisk();
      const model = new StateImage(INCARNATION);
      let store = await openNew(disk, { limits });
      for (const current of [...steps, 'kill' as const]) {
        if (current === 'close' || current === 'kill') {
          if (current === 'close') await store.close();
          // A copy: the old store, if it was not closed, must not write any more.
          disk = new SimulatedDisk(disk.state.after({ contents: 'all', entries: 'all' }));
          store = open(disk, { limits });
          assert.equal(spelled(await store.load()), spelled(model.toStoreImage()));
        } else {
          await Promise.all(current.map((changes) => store.commit(changes)));
          for (const changes of current) model.applyAll(changes);
        }
      }
      await store.close();
    }),
    { numRuns: 150 },
  );
});

// Proves what absence from a List means, that batches stay bounded, and that reconciling twice
// changes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import { decodeMachineList } from '../list/decode-list.ts';
import { BATCH_CHANGES, BATCH_ROWS, reconcileList } from './reconcile-list.ts';
import {
  encodeRecords,
  listOf,
  record,
  type TestRecord,
  waitingIds,
  World,
} from './testing/world.ts';

const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `m${i}`);
const idle = (id: string): TestRecord => record(id, State.Idle);

test('a full List removes what it does not contain; a delta removes nothing', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), idle('b'), idle('c')));
  const delta = world.reconcile(listOf(idle('a')), { isFull: false });
  assert.deepEqual(delta.summary.removal, { kind: 'not_full' });
  assert.equal(world.inventory.size, 3);
  const full = world.reconcile(listOf(idle('a')));
  assert.deepEqual(full.summary.removal, { kind: 'done' });
  assert.deepEqual(
    full.changes.map((change) => change.kind === 'removed' && change.before.id),
    ['b', 'c'],
  );
  assert.equal(world.inventory.size, 1);
});

test('a machine with a call under way is not removed, one whose drain waits for its operator is', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), record('b', 5), idle('c')));
  world.pending.set('a', 'in_flight').set('b', 'drain_wait');
  world.reconcile(listOf());
  assert.deepEqual(
    world.inventory.ids.filter((id) => id !== ''),
    ['a'],
  );
});

test('a record without a readable id proves nothing absent', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), idle('b')));
  const { summary, rejected } = world.reconcile(listOf(idle('a'), record('', State.Idle)));
  assert.deepEqual(summary.removal, { kind: 'incomplete', unidentifiedCount: 1 });
  assert.deepEqual(
    rejected.map(({ id, reason }) => [id, reason]),
    [['', 'structural']],
  );
  assert.equal(world.inventory.size, 2);
});

test('a malformed record that still names its machine counts as seen', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), idle('b')));
  const good = encodeRecords(idle('a'));
  // Machine b, then a field that runs beyond the record.
  const bad = Uint8Array.from([0x0a, 0x05, 0x0a, 0x01, 0x62, 0x22, 0x7f]);
  const columns = decodeMachineList(Buffer.concat([good, bad]));
  const { summary, rejected } = world.reconcile(columns);
  assert.deepEqual(summary.removal, { kind: 'done' });
  assert.deepEqual(
    rejected.map(({ id, reason }) => [id, reason]),
    [['b', 'structural']],
  );
  assert.equal(world.inventory.size, 2);
});

test('the same id from a second provider is refused, and the first keeps it', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), idle('b')), { provider: 'first' });
  const second = world.reconcile(listOf(record('a', 1), idle('x')), { provider: 'second' });
  assert.deepEqual(
    second.rejected.map(({ id, reason }) => [id, reason]),
    [['a', 'duplicate_id']],
  );
  assert.equal(world.machine('a')?.provider, 'first');
  assert.equal(world.machine('a')?.state, State.Idle);
  // Neither is the other's removal scope.
  world.reconcile(listOf(), { provider: 'second' });
  assert.deepEqual(world.inventory.ids.filter((id) => id !== '').sort(), ['a', 'b']);
  // Once the first has let go of it, the second may list it.
  world.reconcile(listOf(idle('b')), { provider: 'first' });
  world.reconcile(listOf(record('a', 1)), { provider: 'second' });
  assert.equal(world.machine('a')?.provider, 'second');
});

test('twice in one List: the first stands', () => {
  const world = new World();
  const { rejected } = world.reconcile(listOf(idle('a'), record('a', 5)));
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ['duplicate_id'],
  );
  assert.equal(world.machine('a')?.state, State.Idle);
});

test('a List that omits most machines is believed the third time', () => {
  const world = new World();
  world.reconcile(listOf(...ids(20).map(idle)));
  const shrunk = listOf(...ids(4).map(idle));
  for (const agreeing of [1, 2]) {
    const { summary } = world.reconcile(shrunk);
    assert.deepEqual(summary.removal, { kind: 'held', heldCount: 16, agreeing });
    assert.equal(world.inventory.size, 20);
  }
  assert.equal(world.reconcile(shrunk).summary.changeCounts.removed, 16);
  assert.equal(world.inventory.size, 4);
});

test('batches are bounded in rows, and rows that changed meanwhile are seen as they are then', () => {
  const world = new World();
  const machines = ids(2 * BATCH_CHANGES + 1).map(idle);
  const columns = listOf(...machines);
  const batches = reconcileList({
    provider: 'p',
    columns,
    known: world.known,
    nowMs: 0,
    readAssignment: decodeShardMetadata,
    isFull: true,
    guard: world.guard,
  });
  const sizes: number[] = [];
  let step = batches.next();
  for (; step.done !== true; step = batches.next()) {
    sizes.push(step.value.changes.length);
    world.apply(step.value);
    // An action takes hold of a machine of the next batch.
    if (sizes.length === 1) {
      world.apply({
        changes: [
          { kind: 'inserted', machine: { ...changeOf(world), pricePerHour: 9 }, skipped: [] },
        ],
        rejected: [],
      });
      world.pending.set(`m${BATCH_CHANGES}`, 'in_flight');
    }
  }
  assert.deepEqual(sizes, [BATCH_CHANGES, BATCH_CHANGES]);
  assert.deepEqual(waitingIds(step.value), [`m${BATCH_CHANGES}`]);
  assert.deepEqual([...step.value.unsettled.rows], [BATCH_CHANGES]);
  assert.equal(world.inventory.size, machines.length);
});

function changeOf(world: World): NonNullable<ReturnType<World['machine']>> {
  const first = world.machine('m0');
  assert.ok(first !== undefined);
  return { ...first, id: `m${BATCH_CHANGES}` };
}

test('a List that changes nothing still lets I/O in, per batch and while absence is judged', () => {
  const world = new World();
  const columns = listOf(...ids(6_000).map(idle));
  world.reconcile(columns);
  const steps = [
    ...reconcileList({
      provider: 'p',
      columns,
      known: world.known,
      nowMs: 0,
      readAssignment: decodeShardMetadata,
      isFull: true,
      guard: world.guard,
    }),
  ];
  assert.equal(steps.length, 6_000 / BATCH_ROWS + 1);
  assert.ok(steps.every(({ changes, rejected }) => changes.length + rejected.length === 0));
});

test('only the rows that need a look are looked at, and absence is taken as it was found', () => {
  const world = new World();
  world.reconcile(listOf(idle('a'), idle('b'), idle('c'), idle('d')));
  world.pending.set('c', 'in_flight');
  const columns = listOf(record('a', 5), record('b', 5));
  const batches = reconcileList({
    provider: 'p',
    columns,
    known: world.known,
    nowMs: 0,
    readAssignment: decodeShardMetadata,
    isFull: true,
    guard: world.guard,
    rows: Uint32Array.of(1),
    absent: ['c', 'd', 'never known'],
  });
  const kinds: string[] = [];
  let step = batches.next();
  for (; step.done !== true; step = batches.next()) {
    kinds.push(...step.value.changes.map(({ kind }) => kind));
    world.apply(step.value);
  }
  assert.deepEqual(kinds, ['replaced', 'removed']);
  assert.equal(world.machine('a')?.state, State.Idle, 'passed over');
  assert.equal(world.machine('d'), undefined);
  const { rowCount, unsettled } = step.value;
  assert.deepEqual([rowCount, [...unsettled.rows], unsettled.keptIds], [2, [], ['c']]);
});

test('property: reconciling the same List again changes nothing, in any order of rows', () => {
  const machine = fc.record({
    id: fc.constantFrom(...ids(12)),
    state: fc.integer({ min: 1, max: 8 }),
    price: fc.constantFrom(0, 0.5, Number.NaN),
    rack: fc.constantFrom('r1', 'r2'),
  });
  fc.assert(
    fc.property(
      fc.array(machine, { maxLength: 20 }),
      fc.array(machine, { maxLength: 20 }),
      (a, b) => {
        const world = new World();
        const list = (rows: typeof a): ReturnType<typeof listOf> =>
          listOf(
            ...rows.map(({ id, state, price, rack }) =>
              record(id, state, { pricePerHour: price, labels: { rack } }),
            ),
          );
        world.reconcile(list(a));
        const columns = list(b);
        world.reconcile(columns);
        const again = world.reconcile(columns);
        assert.deepEqual(again.changes, []);
      },
    ),
  );
});

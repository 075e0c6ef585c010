// Proves the merge rules of one record: what is skipped, refused, kept, moved and replaced.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBound, isLegalTransition, noAssignment, State } from '@bigfleet/engine';
import { FAILED_COOL_DOWN_MS } from './merge-row.ts';
import { listOf, record, stamped, type TestRecord, waitingIds, World } from './testing/world.ts';

const states = [1, 2, 3, 4, 5, 6, 7, 8] as const;

function worldWith(state: number, changes = {}): World {
  const world = new World();
  world.reconcile(listOf(record('a', state, changes)));
  assert.equal(world.machine('a')?.state, state);
  return world;
}

test('a new machine in any state is inserted, with the echoed assignment only while bound', () => {
  for (const state of states) {
    const world = new World();
    const echo = { shardMetadata: stamped('7') };
    const { changes } = world.reconcile(listOf(record('a', state, echo)));
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['inserted'],
    );
    assert.equal(world.machine('a')?.assigned.priority, isBound(state) ? 7 : 0, `state ${state}`);
  }
});

test('an unusable value of the echo is reported and the record still enters', () => {
  const world = new World();
  const { changes } = world.reconcile(listOf(record('a', 5, { shardMetadata: stamped('x') })));
  const [change] = changes;
  assert.ok(change?.kind === 'inserted');
  assert.equal(change.skipped[0]?.problem, 'not_an_int32');
});

test('every pair of states: legal edges move, the others replace, the same is unchanged', () => {
  for (const from of states) {
    for (const to of states) {
      const world = worldWith(from);
      const slot = world.inventory.slotOf('a');
      const { changes, summary } = world.reconcile(listOf(record('a', to)));
      const kinds = changes.map(({ kind }) => kind);
      if (from === to) {
        assert.deepEqual([kinds, summary.unchangedCount], [[], 1]);
        continue;
      }
      const isEdge = isLegalTransition(from, to);
      assert.deepEqual(kinds, [isEdge ? 'moved' : 'replaced'], `${from} → ${to}`);
      assert.equal(world.machine('a')?.state, to);
      if (isEdge) assert.equal(world.inventory.slotOf('a'), slot);
      const [change] = changes;
      assert.ok(change?.kind === 'moved' || change?.kind === 'replaced');
      assert.equal(change.before.state, from);
      assert.equal(change.before.cluster, isBound(from) ? 'c1' : '', 'whom to notify');
    }
  }
});

test('our stamps stay along a bound edge, and end with the binding', () => {
  const world = worldWith(State.Configuring);
  const slot = world.inventory.slotOf('a');
  const ours = { ...noAssignment, priority: 99, needFingerprint: 'f' };
  world.inventory.put({ ...world.inventory.read(slot), assigned: ours }, 0);
  world.reconcile(listOf(record('a', State.Configured)));
  assert.deepEqual(world.machine('a')?.assigned, ours);
  world.reconcile(listOf(record('a', State.Draining)));
  assert.deepEqual(world.machine('a')?.assigned, ours);
  world.reconcile(listOf(record('a', State.Idle, { shardMetadata: stamped('7') })));
  assert.deepEqual(world.machine('a')?.assigned, noAssignment);
});

test('a jump takes the echo, and keeps ours where the echo says nothing', () => {
  const known = worldWith(State.Configuring);
  known.reconcile(listOf(record('a', State.Draining, { shardMetadata: {} })));
  assert.equal(known.machine('a')?.assigned.priority, 7, 'the same binding');
  const rebound = worldWith(State.Configured);
  const other = { cluster: 'c2', shardMetadata: {} };
  const { changes } = rebound.reconcile(listOf(record('a', State.Configured, other)));
  assert.equal(changes[0]?.kind, 'replaced');
  assert.equal(rebound.machine('a')?.cluster, 'c2');
  assert.equal(rebound.machine('a')?.assigned.priority, 0, 'another binding, nothing echoed');
  const appeared = worldWith(State.Idle);
  appeared.reconcile(listOf(record('a', State.Configuring)));
  assert.equal(appeared.machine('a')?.assigned.priority, 7, 'no stamps of ours to keep');
});

test('the same state with other facts refreshes without a move', () => {
  const drifts = [
    { pricePerHour: 2 },
    { interruptionProbability: 0.5 },
    { labels: { rack: '7' } },
    { allocatable: { resources: { cpu: '3' } } },
    { zone: 'z2' },
  ];
  for (const drift of drifts) {
    const world = worldWith(State.Configured);
    world.reconcile(listOf(record('a', State.Configured, { shardMetadata: stamped('8') })));
    const { changes } = world.reconcile(listOf(record('a', State.Configured, drift)));
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['refreshed'],
      JSON.stringify(drift),
    );
    assert.equal(world.machine('a')?.assigned.priority, 7, 'metadata is written once');
    const again = world.reconcile(listOf(record('a', State.Configured, drift)));
    assert.equal(again.summary.unchangedCount, 1);
  }
  const failed = worldWith(State.Failed);
  const { changes } = failed.reconcile(listOf(record('a', State.Failed, { lastError: 'other' })));
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['refreshed'],
  );
  assert.equal(failed.machine('a')?.lastError, 'other');
});

test('machines that begin to share a profile are compared one by one', () => {
  const world = new World();
  world.reconcile(listOf(record('a', 3), record('b', 3, { pricePerHour: 2 })));
  const { changes } = world.reconcile(listOf(record('a', 3), record('b', 3)));
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['refreshed'],
  );
  assert.equal(world.machine('b')?.pricePerHour, 1);
});

test('allocatable falls back to resources, and another spelling of a quantity is no change', () => {
  const world = worldWith(State.Idle, { allocatable: { resources: {} } });
  assert.deepEqual(world.machine('a')?.allocatable, new Map([['cpu', 4_000]]));
  const { summary } = world.reconcile(
    listOf(record('a', State.Idle, { allocatable: { resources: { cpu: '4000m' } } })),
  );
  assert.equal(summary.unchangedCount, 1);
});

test('a bad record is refused with its reason, and what was known stays', () => {
  const idle = record('a', State.Idle);
  const rows: readonly [string, TestRecord, string][] = [
    ['price NaN', { ...idle, pricePerHour: Number.NaN }, 'price'],
    ['price negative', { ...idle, pricePerHour: -1 }, 'price'],
    ['price infinite', { ...idle, pricePerHour: Number.POSITIVE_INFINITY }, 'price'],
    ['probability above 1', { ...idle, interruptionProbability: 1.1 }, 'interruption_probability'],
    [
      'probability NaN',
      { ...idle, interruptionProbability: Number.NaN },
      'interruption_probability',
    ],
    ['no state', { ...idle, state: 0 }, 'structural'],
    ['a state from the future', { ...idle, state: 9 }, 'structural'],
    ['no capacity type', { ...idle, capacityType: 0 }, 'structural'],
    ['a capacity type from the future', { ...idle, capacityType: 5 }, 'structural'],
    ['Idle with a cluster', { ...idle, cluster: 'c' }, 'structural'],
    ['Idle without a host', { ...idle, host: { provider: '', ref: '' } }, 'structural'],
    ['Draining without a cluster', record('a', 6, { cluster: '' }), 'structural'],
    [
      'Speculative with a host',
      record('a', 1, { host: { provider: 'p', ref: 'r' } }),
      'structural',
    ],
    ['Failed without words', record('a', 8, { lastError: '' }), 'structural'],
    [
      'a quantity that is none',
      { ...idle, resources: { resources: { cpu: 'much' } } },
      'structural',
    ],
    ['labels of a megabyte', { ...idle, labels: { note: 'x'.repeat(1 << 20) } }, 'structural'],
    ['a cluster of a megabyte', record('a', 5, { cluster: 'c'.repeat(1 << 20) }), 'structural'],
    [
      'a host of a megabyte',
      { ...idle, pricePerHour: 77, host: { provider: 'p', ref: 'r'.repeat(1 << 20) } },
      'structural',
    ],
  ];
  for (const [name, bad, reason] of rows) {
    for (const world of [worldWith(State.Configured), worldWith(State.Idle), new World()]) {
      const before = world.machine('a');
      const { rejected, changes, summary } = world.reconcile(listOf(bad));
      assert.deepEqual(
        rejected.map((row) => [row.id, row.reason]),
        [['a', reason]],
        name,
      );
      assert.deepEqual(changes, [], `${name}: and it is not taken for removed`);
      assert.deepEqual(summary.removal, { kind: 'done' });
      assert.deepEqual(world.machine('a'), before, name);
    }
  }
});

test('a Failed or transitional record of a known machine may leave the capacity type out', () => {
  const without = { capacityType: 0 };
  const world = worldWith(State.Idle);
  assert.equal(world.reconcile(listOf(record('a', 4, without))).rejected.length, 0);
  assert.equal(world.machine('a')?.capacityType, 3);
  assert.equal(world.reconcile(listOf(record('a', 8, without))).rejected.length, 0);
  const stable = worldWith(State.Configured);
  assert.equal(stable.reconcile(listOf(record('a', 3, without))).rejected.length, 1);
  assert.equal(new World().reconcile(listOf(record('a', 8, without))).rejected.length, 1);
});

test('what is written after the List was asked for is left alone, and looked at again', () => {
  const world = new World();
  world.reconcile(listOf(record('a', State.Idle), record('b', State.Idle)));
  for (const id of ['a', 'b']) world.touched.add(id);
  const list = listOf(record('a', State.Configured), record('b', State.Idle));
  const { summary } = world.reconcile(list);
  assert.equal(world.machine('a')?.state, State.Idle);
  assert.deepEqual(waitingIds(summary), ['a'], 'b says what is known: it need not wait');
  assert.equal(world.reconcile(listOf(record('b', State.Idle))).summary.changeCounts.removed, 0);
  world.touched.clear();
  assert.equal(world.reconcile(list).changes[0]?.kind, 'replaced');
});

test('a pending machine is left to its action', () => {
  const world = worldWith(State.Configuring);
  world.pending.set('a', 'in_flight');
  const { summary } = world.reconcile(listOf(record('a', State.Idle)));
  assert.equal(summary.skippedCount, 1);
  assert.equal(world.machine('a')?.state, State.Configuring);
});

test('a machine in drain-wait is skipped while its provider says Configured, and only then', () => {
  const world = worldWith(State.Draining);
  world.pending.set('a', 'drain_wait');
  assert.equal(world.reconcile(listOf(record('a', State.Configured))).summary.skippedCount, 1);
  const { changes } = world.reconcile(listOf(record('a', State.Failed)));
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['moved'],
  );
});

test('a machine that we marked Failed is believed healthy after the cool-down, if stable', () => {
  const world = worldWith(State.Failed);
  world.nowMs = 1_000;
  world.failedHere.set('a', 1_000);
  const idle = listOf(record('a', State.Idle));
  assert.equal(world.reconcile(idle).summary.skippedCount, 1);
  world.nowMs = 1_000 + FAILED_COOL_DOWN_MS - 1;
  assert.equal(world.reconcile(idle).summary.skippedCount, 1);
  world.nowMs += 1;
  assert.equal(world.reconcile(listOf(record('a', 2))).summary.skippedCount, 1, 'transitional');
  assert.deepEqual(
    world.reconcile(idle).changes.map(({ kind }) => kind),
    ['replaced'],
  );
  assert.equal(world.machine('a')?.state, State.Idle);
});

test('what the shard knows beside the record survives a refresh', () => {
  const world = worldWith(State.Creating);
  const slot = world.inventory.slotOf('a');
  const stamped = {
    ...world.inventory.read(slot),
    intendedCluster: 'c9',
    withheld: 'not_owned' as const,
  };
  world.inventory.put(stamped, 0);
  world.reconcile(listOf(record('a', State.Creating, { pricePerHour: 3 })));
  assert.equal(world.machine('a')?.intendedCluster, 'c9');
  assert.equal(world.machine('a')?.withheld, 'not_owned');
  world.reconcile(listOf(record('a', State.Idle, { pricePerHour: 3 })));
  assert.equal(world.machine('a')?.intendedCluster, '');
  assert.equal(world.machine('a')?.withheld, 'not_owned');
});

/** A record of so many resources that nobody else has. */
function wide(id: string, count: number): TestRecord {
  const resources = Array.from({ length: count }, (_, at) => [`${id}-${at}`, '1'] as const);
  return record(id, State.Idle, { resources: { resources: Object.fromEntries(resources) } });
}

test('a machine whose resource names find no room is refused, the others of its batch enter', () => {
  const world = new World();
  const { rejected, summary } = world.reconcile(
    listOf(wide('a', 60), wide('b', 60), wide('c', 9), wide('d', 8), record('e', State.Idle)),
  );
  assert.deepEqual(
    rejected.map(({ id, reason }) => [id, reason]),
    [
      ['c', 'structural'],
      ['e', 'structural'],
    ],
  );
  assert.equal(summary.changeCounts.inserted, 3);
  const again = world.reconcile(listOf(wide('a', 60), wide('b', 60), wide('c', 9), wide('d', 8)));
  assert.deepEqual([again.summary.unchangedCount, again.rejected.length], [3, 1]);
});

test('a known machine that gains too many names keeps what was known of it', () => {
  const world = new World();
  world.reconcile(listOf(wide('a', 100), record('b', State.Idle)));
  const { rejected, changes } = world.reconcile(
    listOf(wide('a', 100), { ...wide('b', 28), state: State.Deleting }),
  );
  assert.deepEqual([rejected.length, changes.length], [1, 0]);
  assert.equal(world.machine('b')?.state, State.Idle);
  assert.deepEqual([...(world.machine('b')?.allocatable.keys() ?? [])], ['cpu']);
});

test('a machine that Failed is known as such, however long its reason: the reason is cut', () => {
  const world = worldWith(State.Configured);
  const failed = listOf(
    record('a', State.Failed, { lastError: `host lost: ${'é'.repeat(1 << 20)}` }),
  );
  assert.equal(world.reconcile(failed).changes.length, 1);
  const { state, lastError = '' } = world.machine('a') ?? {};
  assert.equal(state, State.Failed);
  assert.match(lastError, /^host lost: é+…$/);
  assert.equal(lastError.length, 4_096);
  assert.equal(world.reconcile(failed).summary.unchangedCount, 1, 'the same again is no news');
});

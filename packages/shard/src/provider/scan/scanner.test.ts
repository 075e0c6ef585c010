// Proves that a scan passes over exactly what main knows already: whatever Lists come and whatever is
// written between them, reconciling the rows that a scan names ends where reconciling all rows does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import { encodeInit, MachineListSchema } from '@bigfleet/wire';
import { ListColumns } from '../list/columns.ts';
import type { IngestBatch } from '../reconcile/ingest.ts';
import { reconcileList } from '../reconcile/reconcile-list.ts';
import {
  countsOf,
  encodeRecords,
  type Reconciled,
  record,
  type TestRecord,
  waitingIds,
  World,
} from '../reconcile/testing/world.ts';
import { RowTrust } from '../row-trust.ts';
import { noMarks, type ScanAnswer } from './list-scans.ts';
import { Scanner } from './scanner.ts';

type Scanned = Extract<ScanAnswer, { kind: 'scanned' }>;

/** A scanner and a shard behind it, as a provider source ties them together. */
class Desk {
  readonly scanner = new Scanner();
  readonly world = new World();
  readonly trust = new RowTrust();

  scan(bytes: Uint8Array, isFull = true): Scanned {
    const order = { provider: 'p', bytes, isFull, ...this.trust.take() };
    const answer = this.scanner.scan(order);
    assert.ok(answer.kind === 'scanned');
    return answer;
  }

  reconcile(
    bytes: Uint8Array,
    isFull = true,
  ): { scanned: Scanned; summary: Reconciled['summary'] } {
    const scanned = this.scan(bytes, isFull);
    const { data, rows, absent } = scanned;
    const batches = reconcileList({
      provider: 'p',
      columns: new ListColumns(data),
      known: this.world.known,
      nowMs: this.world.nowMs,
      readAssignment: decodeShardMetadata,
      isFull,
      guard: this.world.guard,
      rows,
      absent,
    });
    const applied: IngestBatch[] = [];
    let step = batches.next();
    for (; step.done !== true; step = batches.next()) {
      this.world.apply(step.value);
      applied.push(step.value);
    }
    this.trust.offered(step.value.unsettled, { isFull });
    return { scanned, summary: { ...step.value, ...countsOf(step.value, applied) } };
  }
}

const list = (...machines: readonly TestRecord[]): Uint8Array => encodeRecords(...machines);
const idle = (id: string): TestRecord => record(id, State.Idle);

test('the same List again: no row, nobody absent; one that changed comes, one that left is named', () => {
  const desk = new Desk();
  const first = desk.scan(list(idle('a'), idle('b'), idle('c')));
  assert.deepEqual([[...first.rows], first.absent], [[0, 1, 2], undefined]);
  const same = desk.scan(list(idle('c'), idle('a'), idle('b')));
  assert.deepEqual([[...same.rows], same.absent], [[], []]);
  const next = desk.scan(list(idle('a'), record('c', State.Configured)));
  assert.deepEqual([[...next.rows], next.absent], [[1], ['b']]);
  const later = desk.scan(list(idle('a'), record('c', State.Configured)));
  assert.deepEqual([[...later.rows], later.absent], [[], []], 'named once');
});

test('a delta speaks of some and leaves the others as they were', () => {
  const desk = new Desk();
  desk.scan(list(idle('a'), idle('b')));
  const delta = desk.scan(list(record('b', State.Configured), idle('x')), false);
  assert.deepEqual([[...delta.rows], delta.absent], [[0, 1], undefined]);
  const full = desk.scan(list(idle('a'), record('b', State.Configured)));
  assert.deepEqual([[...full.rows], full.absent], [[], ['x']]);
});

test('what main wrote or did not settle comes again; what it names is looked for', () => {
  const desk = new Desk();
  const bytes = list(idle('a'), idle('b'), idle('ü'));
  desk.scan(bytes);
  desk.trust.wrote({ touched: ['ü', 'held'], doubted: [] });
  desk.trust.unread(Uint32Array.of(1));
  const again = desk.scan(bytes);
  assert.deepEqual([[...again.rows], again.absent], [[1, 2], ['held']]);
  desk.trust.forgetAll();
  assert.equal(desk.scan(bytes).rows.length, 3);
});

test('a record that main could not take in comes with the next delta, unless that says something newer', () => {
  const desk = new Desk();
  desk.reconcile(list(idle('a'), idle('b')));
  desk.world.pending.set('a', 'in_flight').set('b', 'in_flight');
  desk.reconcile(list(record('a', State.Configured), record('b', State.Configured)), false);
  desk.world.pending.clear();
  const { scanned } = desk.reconcile(list(record('b', State.Draining)), false);
  assert.deepEqual([...scanned.rows], [0, 1], 'b as the delta says, a as it waited');
  assert.deepEqual(
    ['a', 'b'].map((id) => desk.world.machine(id)?.state),
    [State.Configured, State.Draining],
  );
  assert.deepEqual([...desk.reconcile(list(), false).scanned.rows], [], 'and not once more');
});

test('an unreadable List loses nothing that main said', () => {
  const desk = new Desk();
  const bytes = list(idle('a'), idle('b'));
  desk.scan(bytes);
  desk.trust.wrote({ touched: ['b'], doubted: [] });
  const order = { provider: 'p', isFull: true, ...desk.trust.take() };
  const garbage = desk.scanner.scan({ ...order, bytes: Uint8Array.of(0x0a, 0x7f) });
  assert.ok(garbage.kind === 'malformed' && garbage.detail.includes('not a MachineList'));
  assert.deepEqual([...desk.scan(bytes).rows], [1]);
});

test('refused and doubled records come every time', () => {
  const desk = new Desk();
  const bytes = list(idle('a'), record('a', State.Configured), idle('b'), idle(''));
  for (let round = 0; round < 3; round++) {
    const rows = [...desk.scan(bytes).rows];
    assert.deepEqual(rows, round === 0 ? [0, 1, 2, 3] : [0, 1, 3], `round ${round}`);
  }
});

test('providers do not know each other', () => {
  const scanner = new Scanner();
  const order = { ...noMarks, isFull: true };
  scanner.scan({ ...order, provider: 'p', bytes: list(idle('a')) });
  const other = scanner.scan({ ...order, provider: 'q', bytes: list(idle('a')) });
  assert.deepEqual(other.kind === 'scanned' && [...other.rows], [0]);
});

const base = record('a', State.Failed, {
  labels: { rack: 'r1', pool: 'x' },
  allocatable: { resources: { cpu: '3' } },
  lastError: 'broken',
});

const changes: readonly (readonly [string, Partial<TestRecord>])[] = [
  ['state', { state: State.Deleting }],
  ['host', { host: { provider: 'p', ref: 'h' } }],
  ['instance type', { instanceType: 'm2' }],
  ['zone', { zone: 'z2' }],
  ['capacity type', { capacityType: 4 }],
  ['price', { pricePerHour: 1.0000001 }],
  ['probability', { interruptionProbability: 0.5 }],
  ['resources', { resources: { resources: { cpu: '5' } } }],
  ['allocatable', { allocatable: { resources: { cpu: '3500m' } } }],
  ['a label', { labels: { rack: 'r2', pool: 'x' } }],
  ['swapped labels', { labels: { rack: 'x', pool: 'r1' } }],
  ['a label less', { labels: { rack: 'r1' } }],
  ['error text', { lastError: 'broken again' }],
  ['cluster', { cluster: 'c9' }],
];

for (const [what, change] of changes) {
  test(`a change is seen: ${what}`, () => {
    const desk = new Desk();
    desk.scan(list(base));
    assert.deepEqual([...desk.scan(list({ ...base, ...change })).rows], [0]);
  });
}

test('another order of the same entries is no change', () => {
  const desk = new Desk();
  const pair = (key: string, value: string): Record<string, string> => ({ [key]: value });
  const machine = (labels: Record<string, string>): Uint8Array => list({ ...idle('a'), labels });
  desk.scan(machine({ ...pair('rack', 'r1'), ...pair('pool', 'x') }));
  const other = desk.scan(machine({ ...pair('pool', 'x'), ...pair('rack', 'r1') }));
  assert.equal(other.rows.length, 0);
  const revision = encodeInit(MachineListSchema, { revision: Uint8Array.of(1) });
  assert.equal(desk.scan(revision, false).rows.length, 0, 'a List of nobody');
});

const machines = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'),
    state: fc.integer({ min: 1, max: 8 }),
    price: fc.constantFrom(0, 0.5, Number.NaN),
    rack: fc.constantFrom('r1', 'r2'),
  }),
  { selector: ({ id }) => id },
);
const rounds = fc.array(
  fc.record({
    machines,
    isFull: fc.boolean(),
    /** What our own actions do before the List: take hold of a machine, or move it away. */
    writes: fc.array(
      fc.tuple(fc.constantFrom('pend', 'release', 'write'), fc.constantFrom('a', 'b', 'c', 'd')),
      { maxLength: 3 },
    ),
  }),
  { maxLength: 8 },
);

test('property: the named rows are enough', () => {
  fc.assert(
    fc.property(rounds, (steps) => {
      const desk = new Desk();
      const oracle = new World();
      let waiting: readonly TestRecord[] = [];
      for (const { machines: rows, isFull, writes } of steps) {
        for (const [kind, id] of writes) {
          for (const world of [desk.world, oracle]) writeTo(world, kind, id);
          if (kind === 'write') desk.trust.wrote({ touched: [id], doubted: [] });
        }
        const listed = rows.map(({ id, state, price, rack }) =>
          record(id, state, { pricePerHour: price, labels: { rack } }),
        );
        const { summary } = desk.reconcile(list(...listed), isFull);
        const [outdated, offered] = partition(isFull ? [] : waiting, ({ id }) =>
          rows.some((row) => row.id === id),
        );
        const all = [...listed, ...offered];
        const expected = oracle.reconcile(columnsOf(list(...all)), { isFull }).summary;
        assert.deepEqual(contentOf(desk.world), contentOf(oracle));
        assert.deepEqual(compared(summary, outdated.length), compared(expected));
        const open = new Set(waitingIds(expected));
        waiting = all.filter(({ id }) => open.has(id));
      }
    }),
    { numRuns: 400 },
  );
});

/** A row that says nothing new need not be skipped for the action that is under way. */
function compared(summary: Reconciled['summary'], outdatedCount = 0): unknown {
  const { changeCounts, rejectedCounts, removal, unchangedCount, skippedCount } = summary;
  return {
    changeCounts,
    rejectedCounts,
    removal,
    leftCount: unchangedCount + skippedCount - outdatedCount,
  };
}

function partition<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

function columnsOf(bytes: Uint8Array): ListColumns {
  const order = { ...noMarks, isFull: true, isAnew: true };
  const answer = new Scanner().scan({ ...order, provider: 'p', bytes });
  assert.ok(answer.kind === 'scanned');
  return new ListColumns(answer.data);
}

function writeTo(world: World, kind: 'pend' | 'release' | 'write', id: string): void {
  const machine = world.machine(id);
  if (kind === 'pend') world.pending.set(id, 'in_flight');
  else if (kind === 'release') world.pending.delete(id);
  else if (machine !== undefined) {
    world.apply({
      changes: [{ kind: 'refreshed', machine: { ...machine, zone: 'ours' } }],
      rejected: [],
    });
  }
}

function contentOf(world: World): readonly string[] {
  return world.inventory.ids
    .filter((id) => id !== '')
    .map((id) => JSON.stringify([world.machine(id), [...(world.machine(id)?.labels ?? [])]]))
    .sort();
}

// Proves that a roll-up replaces its cluster's whole demand, that row order and age do not depend
// on how rows arrive, and that demand which is gone leaves nothing behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { EligibleSets } from '../match/eligible-set.ts';
import { aggregateNeeds, compareDemand, type Need, needKey } from '../model/need.ts';
import { resourcesKey } from '../model/resources.ts';
import { VectorTable } from '../store/dimensions.ts';
import { InputDigest } from '../store/input-digest.ts';
import { Inventory } from '../store/inventory.ts';
import { cores, need, RACK_KEY, resources } from '../testing/build.ts';
import { randomFleet, shuffle } from '../testing/generate.ts';
import { CompiledProfiles } from './compiled-profile.ts';
import { NeedsTable, type RowContext } from './needs-table.ts';
import type { Row } from './row.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'needs-table-1';

interface Fixture {
  readonly table: NeedsTable;
  readonly context: RowContext;
  readonly inventory: Inventory;
}

function fixture(): Fixture {
  const inventory = new Inventory();
  const { classes, dimensions, fingerprints, groups } = inventory;
  const eligible = new EligibleSets(classes);
  const profiles = new CompiledProfiles(eligible, fingerprints);
  const vectors = new VectorTable(dimensions);
  const context = { profiles, eligible, groups, vectors, digest: new InputDigest() };
  return { table: new NeedsTable(context), context, inventory };
}

function needsOf(table: NeedsTable, cluster: number): Need[] {
  return table.rowsOf(cluster).map((row) => row.need);
}

/** What a row demands, without its age. */
function demandText(entry: Need): string {
  return [needKey(entry), resourcesKey(entry.aggregate), resourcesKey(entry.minUnit)].join(' ');
}

test('replace is total: what the roll-up does not name is gone', () => {
  const { table } = fixture();
  const [x, y, z] = [1, 2, 3].map((priority) => need({ wants: cores(priority), priority }));
  table.replace(0, [x ?? assert.fail(), y ?? assert.fail()]);
  table.replace(0, [z ?? assert.fail(), y ?? assert.fail()]);
  assert.deepEqual(needsOf(table, 0), [z, y]);
  assert.equal(table.rowCount, 2);
});

test('an empty roll-up removes the cluster, and only it', () => {
  const { table } = fixture();
  table.replace(0, [need({ wants: cores(1) })]);
  table.replace(1, [need({ wants: cores(1), cluster: 'b' })]);
  table.replace(0, []);
  assert.deepEqual([...table.clusters()], [1]);
  assert.equal(table.clusterCount, 1);
  assert.equal(table.rowCount, 1);
  assert.deepEqual(table.rowsOf(0), []);
  assert.deepEqual(table.rowsOf(99), []);
});

test('every replacement marks its cluster', () => {
  const { table } = fixture();
  const row = need({ wants: cores(1) });
  for (const rows of [[row], [row], []]) {
    table.dirtyClusters.clear();
    table.replace(3, rows);
    assert.deepEqual([...table.dirtyClusters], [3]);
  }
});

test('a row that is seen again keeps its first arrival, a new one starts with its own', () => {
  const { table } = fixture();
  table.replace(0, [need({ wants: cores(1), arrival: 100n })]);
  table.replace(0, [
    need({ wants: cores(5), arrival: 200n }),
    need({ wants: cores(1), group: 'g', arrival: 200n }),
  ]);
  const arrivals = needsOf(table, 0).map(({ group, arrivalUnixNanos }) => [
    group,
    arrivalUnixNanos,
  ]);
  assert.deepEqual(arrivals, [
    ['', 100n],
    ['g', 200n],
  ]);
  table.replace(0, []);
  table.replace(0, [need({ wants: cores(1), arrival: 300n })]);
  assert.equal(needsOf(table, 0)[0]?.arrivalUnixNanos, 300n, 'withdrawn demand has no age');
});

test('an unstamped arrival is no arrival: the first real one counts', () => {
  const { table } = fixture();
  table.replace(0, [need({ wants: cores(1), arrival: 0n })]);
  table.replace(0, [need({ wants: cores(1), arrival: 200n })]);
  assert.equal(needsOf(table, 0)[0]?.arrivalUnixNanos, 200n);
  table.replace(0, [need({ wants: cores(1), arrival: 0n })]);
  assert.equal(needsOf(table, 0)[0]?.arrivalUnixNanos, 200n);
});

test('a row of unchanged demand stays the same row; changed demand is another', () => {
  const { table } = fixture();
  const kept = need({ wants: cores(1), unit: cores(1), group: 'g', arrival: 1n });
  const changed = need({ wants: cores(1), priority: 5, arrival: 1n });
  table.replace(0, [kept, changed]);
  const before = table.rowsOf(0);
  table.replace(0, [
    need({ wants: cores(2), priority: 5, arrival: 9n }),
    need({ wants: cores(1), unit: cores(1), group: 'g', arrival: 9n }),
  ]);
  const after = table.rowsOf(0);
  assert.equal(after[1], before[1]);
  assert.notEqual(after[0], before[0]);
  assert.deepEqual(after[0]?.need.aggregate, cores(2));
});

test('rows that were read stay as they were', () => {
  const { table } = fixture();
  table.replace(0, [need({ wants: cores(1) })]);
  const read = table.rowsOf(0);
  table.replace(0, []);
  assert.equal(read.length, 1);
  assert.deepEqual(read[0]?.need, need({ wants: cores(1) }));
});

test('a compiled row says what its need says', () => {
  const { table, context, inventory } = fixture();
  const gang = need({
    wants: resources({ cpu: 5, gpu: 1 }),
    unit: resources({ cpu: 2 }),
    same: RACK_KEY,
    group: 'g',
    priority: 7,
    interruption: Number.POSITIVE_INFINITY,
    arrival: 1_800_000_000_000_000_123n,
  });
  table.replace(4, [gang]);
  const row: Row = table.rowsOf(4)[0] ?? assert.fail();
  assert.equal(row.cluster, 4);
  assert.equal(row.compiled.priority, 7);
  assert.equal(row.compiled.isPinned, true);
  assert.equal(row.compiled.penaltyDollars, Number.POSITIVE_INFINITY);
  assert.equal(row.compiled.sameKey, RACK_KEY);
  assert.equal(inventory.fingerprints.text(row.compiled.fingerprint), gang.profile.fingerprint);
  const stripped = inventory.fingerprints.text(row.compiled.strippedFingerprint);
  assert.equal(stripped, row.compiled.strippedText);
  assert.ok(!stripped.includes(RACK_KEY));
  assert.equal(inventory.groups.text(row.group), 'g');
  assert.deepEqual(context.vectors.read(row.aggregate), gang.aggregate);
  assert.equal(row.isAlwaysServed, false, 'a machine may cover the unit and none of the gpu');
  assert.equal((BigInt(row.arrivalHigh) << 32n) + BigInt(row.arrivalLow), gang.arrivalUnixNanos);
});

test('profiles and eligible sets are shared and dropped with their last row', () => {
  const { table, context, inventory } = fixture();
  const twin = (cluster: string): Need => need({ wants: cores(1), unit: cores(1), cluster });
  table.replace(0, [twin('a')]);
  table.replace(1, [
    twin('b'),
    need({ wants: cores(1), unit: cores(2), priority: 1, cluster: 'b' }),
  ]);
  assert.equal(context.profiles.size, 2);
  assert.equal(context.eligible.size, 2);
  const [first, second] = [table.rowsOf(0)[0], table.rowsOf(1)[1]];
  assert.equal(first?.compiled, second?.compiled);
  assert.equal(first?.eligible, second?.eligible);
  table.replace(1, []);
  assert.equal(context.profiles.size, 1);
  assert.equal(context.eligible.size, 1);
  table.replace(0, []);
  assertEmpty({ table, context, inventory });
});

test(`order, age and content do not depend on wire order (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 40; run++) {
    const rollups = randomRollups(random.stream(`run-${run}`));
    const [plain, shuffled] = [fixture(), fixture()];
    for (const { cluster, needs } of rollups) {
      plain.table.replace(cluster, needs);
      shuffled.table.replace(cluster, shuffle(random, needs));
      const expected = needsOf(plain.table, cluster);
      assert.deepEqual(needsOf(shuffled.table, cluster), expected);
      assert.deepEqual(
        expected.map(demandText).sort(),
        aggregateNeeds(needs).map(demandText).sort(),
      );
      assert.deepEqual(expected, expected.toSorted(compareDemand));
    }
  }
});

test(`rows of before with other sizes are what a rebuild makes of them (seed ${SEED})`, () => {
  const random = createRandom(`${SEED}-sizes`);
  for (let run = 0; run < 40; run++) {
    const [inOrder, shuffled] = [fixture(), fixture()];
    const { needs } = randomFleet(random.stream(`run-${run}`));
    for (let step = 0; step < 6; step++) {
      const now = needs.map((row) => ({
        ...row,
        aggregate: random.below(3) === 0 ? cores(1 + random.below(3)) : row.aggregate,
        minUnit: random.below(5) === 0 ? cores(1) : row.minUnit,
        arrivalUnixNanos: BigInt(random.below(3)),
      }));
      const before = new Set(inOrder.table.rowsOf(0));
      const kept = new Set(shuffled.table.rowsOf(0));
      inOrder.table.replace(0, now);
      shuffled.table.replace(0, shuffle(random, now));
      assert.deepEqual(needsOf(inOrder.table, 0), needsOf(shuffled.table, 0));
      const [digest, other] = [inOrder, shuffled].map(({ context }) => context.digest);
      assert.deepEqual([digest?.high, digest?.low], [other?.high, other?.low]);
      assert.deepEqual(
        inOrder.table.rowsOf(0).map((row) => before.has(row)),
        shuffled.table.rowsOf(0).map((row) => kept.has(row)),
        'the same rows stay',
      );
    }
    for (const made of [inOrder, shuffled]) {
      made.table.replace(0, []);
      assertEmpty(made);
    }
  }
});

test(`agrees with a plain map, and leaves nothing behind (seed ${SEED})`, () => {
  const random = createRandom(`${SEED}-leaks`);
  for (let run = 0; run < 60; run++) {
    const made = fixture();
    const model = new Map<number, Map<string, bigint>>();
    for (const { cluster, needs } of randomRollups(random.stream(`run-${run}`))) {
      made.table.replace(cluster, needs);
      const before = model.get(cluster);
      const arrivals = aggregateNeeds(needs).map((row): [string, bigint] => {
        const known = before?.get(needKey(row)) ?? 0n;
        return [needKey(row), known === 0n ? row.arrivalUnixNanos : known];
      });
      if (arrivals.length === 0) model.delete(cluster);
      else model.set(cluster, new Map(arrivals));
    }
    assert.deepEqual(new Set(made.table.clusters()), new Set(model.keys()));
    for (const [cluster, arrivals] of model) {
      const rows = needsOf(made.table, cluster);
      assert.deepEqual(new Map(rows.map((row) => [needKey(row), row.arrivalUnixNanos])), arrivals);
    }
    const rowCount = [...model.values()].reduce((sum, { size }) => sum + size, 0);
    assert.equal(made.table.rowCount, rowCount);
    for (const cluster of model.keys()) made.table.replace(cluster, []);
    assertEmpty(made);
  }
});

function randomRollups(random: Random): { cluster: number; needs: Need[] }[] {
  return Array.from({ length: 12 }, (_, at) => {
    const cluster = random.below(3);
    const name = `c${cluster}`;
    const { needs } = randomFleet(random.stream(`fleet-${random.below(4)}-${at % 2}`));
    const own = needs.map((row) => ({
      ...row,
      cluster: name,
      arrivalUnixNanos: BigInt(random.below(4)),
    }));
    return { cluster, needs: random.below(6) === 0 ? [] : own };
  });
}

function assertEmpty({ table, context, inventory }: Fixture): void {
  assert.equal(table.rowCount, 0);
  assert.equal(table.clusterCount, 0);
  assert.equal(context.profiles.size, 0, 'profiles leak');
  assert.equal(context.eligible.size, 0, 'eligible sets leak');
  assert.equal(inventory.fingerprints.size, 1, 'fingerprints leak');
  assert.equal(inventory.groups.size, 1, 'groups leak');
  // Every released row of the table is handed out again before a new one.
  const handles = new Set(Array.from({ length: 50 }, () => context.vectors.allocate()));
  assert.equal(handles.size, 50, 'a vector was released twice');
}

// Proves that a cluster's supply stands in keep order, section by section, over random changes,
// whenever it is read, and that claims of machines that did not change survive an arrangement.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { State } from '../model/state.ts';
import { CELL, CLAIM, CLASS, ClusterSupply, EFFECTIVE_PRIORITY, SLOT } from './cluster-supply.ts';
import { Columns } from './columns.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'supply-1';
const SLOTS = 120;
const CLUSTER = 7;
const ANOTHER = 8;
/** By class: classes 1 and 2 cost the same. */
const price = Float64Array.of(3, 1, 1, 0, 2);
const STATES = [State.Configured, State.Configuring, State.Creating, State.Draining, State.Idle];

function columnsOf(random: Random): Columns {
  const columns = new Columns();
  columns.ensure(SLOTS);
  for (let slot = 0; slot < SLOTS; slot++) columns.rank[slot] = random.uint32();
  return columns;
}

function write(columns: Columns, slot: number, random: Random): void {
  const cluster = random.below(5) === 0 ? ANOTHER : CLUSTER;
  columns.state[slot] = STATES[random.below(STATES.length)] ?? 0;
  columns.cluster[slot] = cluster;
  columns.intended[slot] = cluster;
  columns.klass[slot] = random.below(price.length);
  columns.reclamationBucket[slot] = 1 + random.below(3);
  columns.effectivePriority[slot] = random.below(100) - 50;
}

function sectionOf({ state, cluster, intended }: Columns, slot: number): number {
  const owner = state[slot] === State.Creating ? intended[slot] : cluster[slot];
  return owner === CLUSTER ? STATES.slice(0, 3).indexOf(state[slot] as never) : -1;
}

/** Naive: every slot that belongs, sorted by section, price, penalty from high to low, id. */
function expectedSlots(columns: Columns): number[] {
  const { klass, reclamationBucket, rank } = columns;
  const priceOf = (slot: number): number => price[klass[slot] ?? -1] ?? Number.NaN;
  return Array.from({ length: SLOTS }, (_, slot) => slot)
    .filter((slot) => sectionOf(columns, slot) >= 0)
    .sort(
      (a, b) =>
        sectionOf(columns, a) - sectionOf(columns, b) ||
        priceOf(a) - priceOf(b) ||
        (reclamationBucket[b] ?? 0) - (reclamationBucket[a] ?? 0) ||
        (rank[a] ?? 0) - (rank[b] ?? 0),
    );
}

function assertArranged(supply: ClusterSupply, columns: Columns, claims: readonly number[]): void {
  const expected = expectedSlots(columns);
  const { cells, end, configuredEnd, boundEnd } = supply;
  const found = Array.from({ length: end / CELL }, (_, at) => cells[at * CELL + SLOT]);
  assert.deepEqual(found, expected);
  const countBelow = (section: number): number =>
    expected.filter((slot) => sectionOf(columns, slot) < section).length;
  assert.deepEqual([configuredEnd, boundEnd], [countBelow(1) * CELL, countBelow(2) * CELL]);
  assert.equal(supply.configuredCount, countBelow(1));
  assert.equal(supply.isEmpty, expected.length === 0);
  for (const [at, slot] of expected.entries()) {
    assert.equal(cells[at * CELL + CLASS], columns.klass[slot]);
    assert.equal(cells[at * CELL + EFFECTIVE_PRIORITY], columns.effectivePriority[slot]);
    assert.equal(cells[at * CELL + CLAIM], claims[slot]);
    assert.equal(supply.isClaimed(slot), claims[slot] !== 0);
  }
}

test(`a supply agrees with a sorted list (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const columns = columnsOf(random);
  const supply = new ClusterSupply(CLUSTER, columns, { price });
  const claims = Array.from({ length: SLOTS }, () => 0);
  for (let round = 0; round < 400; round++) {
    // Few changes and many: single insertions, moves between sections, whole rebuilds.
    const changes = round % 40 === 0 ? SLOTS : random.below(6);
    for (let change = 0; change < changes; change++) {
      const slot = random.below(SLOTS);
      write(columns, slot, random);
      supply.touch(slot);
      claims[slot] = 0;
    }
    assertArranged(supply, columns, claims);
    claimSome(supply, claims, random);
    if (round % 10 === 9) {
      supply.resetClaims();
      claims.fill(0);
      assertArranged(supply, columns, claims);
    }
  }
});

function claimSome(supply: ClusterSupply, claims: number[], random: Random): void {
  for (let at = 0; at < supply.end; at += CELL) {
    if (random.below(4) !== 0) continue;
    const claim = 1 + random.below(9);
    supply.cells[at + CLAIM] = claim;
    claims[supply.cells[at + SLOT] ?? -1] = claim;
  }
}

test('a supply that shrinks gives its memory back', () => {
  const columns = columnsOf(createRandom(SEED));
  const supply = new ClusterSupply(CLUSTER, columns, { price });
  const setAll = (state: number): void => {
    for (let slot = 0; slot < SLOTS; slot++) {
      columns.state[slot] = state;
      columns.cluster[slot] = CLUSTER;
      supply.touch(slot);
    }
  };
  setAll(State.Configured);
  const full = supply.cells.length;
  assert.ok(full >= SLOTS * CELL && full <= SLOTS * CELL * 1.25);
  setAll(State.Idle);
  assert.ok(supply.cells.length <= full / 4);
});

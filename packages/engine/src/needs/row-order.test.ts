// Proves that the packed sort of rows gives the order that is written down here key by key, also
// for thousands of rows with priorities at both ends of int32.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareText, createRandom, type PenaltyBucket, type Random } from '@bigfleet/base';
import type { Need } from '../model/need.ts';
import { comparePrecedence, createProfile } from '../model/profile.ts';
import type { Row } from './row.ts';
import { cores, fleet, machine, need, RACK_KEY } from '../testing/build.ts';
import { loadEngine } from '../cycle/plain.ts';
import { RowSorter } from './row-order.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'row-order-1';

const CLUSTERS = ['c', 'a', 'd', 'b'];
const NARROW = [0, 0, 1, 1000];
const EXTREME = [-(2 ** 31), 0, 1, 2 ** 31 - 1];

function randomNeed(random: Random, priorities: readonly number[], at: number): Need {
  const isGang = random.below(3) === 0;
  const plain = need({
    cluster: CLUSTERS[random.below(CLUSTERS.length)]!,
    wants: cores(1 + random.below(2)),
    group: `g${at}`,
    // Stamps that differ in either half of their 64 bits.
    arrival: BigInt(random.below(3)) * 2n ** 32n + BigInt(random.below(3)),
    ...(isGang ? { same: RACK_KEY } : {}),
  });
  const profile = createProfile({
    ...plain.profile,
    priority: priorities[random.below(priorities.length)]!,
    interruptionBucket: (1 + random.below(27)) as PenaltyBucket,
    reclamationBucket: (1 + random.below(27)) as PenaltyBucket,
  });
  return { ...plain, profile };
}

/** Normalised rows cluster by cluster, as the engine hands them to the sorter. */
function rowsOf(random: Random, count: number, priorities: readonly number[]): Row[] {
  const needs = Array.from({ length: count }, (_, at) => randomNeed(random, priorities, at));
  // One idle machine of one core in a rack: gangs of one core fold, gangs of two do not.
  const machines = [machine({ id: 'm', rack: 'r1' })];
  const engine = loadEngine(fleet({ machines, needs }), { hasRecords: false });
  engine.cycle({ nowMs: 1 });
  return [...CLUSTERS]
    .sort()
    .flatMap((name) => engine.claimants(engine.inventory.clusterIndex(name)));
}

for (const { name, count, priorities } of [
  { name: 'few rows', count: 40, priorities: NARROW },
  { name: 'few rows at the ends of int32', count: 40, priorities: EXTREME },
  { name: 'thousands of rows at the ends of int32', count: 4_000, priorities: EXTREME },
]) {
  test(`${name} sort as they compare (seed ${SEED})`, () => {
    const rows = rowsOf(createRandom(`${SEED}-${name}`), count, priorities);
    assert.ok(rows.some((row) => row.isFolded) && rows.some((row) => !row.isFolded));
    const sorter = new RowSorter();
    const byPriority = [...rows];
    sorter.byPriority(byPriority);
    const priority = (row: Row): number => row.need.profile.priority;
    assertOrder(byPriority, rows, (a, b) => priority(b) - priority(a));
    const byPrecedence = [...rows];
    sorter.byPrecedence(byPrecedence);
    assertOrder(byPrecedence, rows, (a, b) => comparePrecedence(b.need.profile, a.need.profile));
  });
}

function assertOrder(
  sorted: readonly Row[],
  rows: readonly Row[],
  byRank: (a: Row, b: Row) => number,
): void {
  const expected = [...rows].sort((a, b) => byRank(a, b) || compareEquals(a, b));
  assert.deepEqual(sorted.map(told), expected.map(told));
}

/** Rows of one rank: folded ones last, older before younger, cluster, place in it. */
function compareEquals(a: Row, b: Row): number {
  if (a.isFolded !== b.isFolded) return a.isFolded ? 1 : -1;
  const [older, younger] = [a.need.arrivalUnixNanos, b.need.arrivalUnixNanos];
  if (!a.isFolded && older !== younger) return older < younger ? -1 : 1;
  return compareText(a.need.cluster, b.need.cluster) || a.result.index - b.result.index;
}

function told({ need: { cluster, profile, group, arrivalUnixNanos }, isFolded }: Row): string {
  return `${cluster} ${profile.fingerprint} ${group} ${arrivalUnixNanos} ${isFolded}`;
}

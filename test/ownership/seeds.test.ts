// Proves on random fleets, deaths, losses, zombies, removals and restores that ownership keeps its
// laws: no machine that two shards may act on, none taken while in use, none lost, every transfer
// finished or rolled back, no oscillation, no slices above the declared quota. `world/` says how each
// is judged. Most seeds have model shards, which are cheap; the rest have the production modules and
// client over the in-memory transport.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeed } from './world/run-seed.ts';
import { divided, runInWorkers } from './world/seed-range.ts';
import { add, emptyTally, type Tally } from './world/tally.ts';
import type { ShardKind } from './world/world.ts';

const SEEDS = Number(process.env['BIGFLEET_SEEDS'] ?? 5_000);
/** One in so many. */
const REAL_SHARE = 50;
const WORKERS = 2;

test(`${SEEDS} seeds of ownership`, async (t) => {
  assert.ok(Number.isInteger(SEEDS) && SEEDS > 0, 'BIGFLEET_SEEDS must be a positive number');
  const realCount = Math.ceil(SEEDS / REAL_SHARE);
  const models = divided({ kind: 'model', first: 0, count: SEEDS - realCount }, WORKERS);
  const reals = divided({ kind: 'real', first: 0, count: realCount }, WORKERS);
  const results = await runInWorkers(
    models.map((range, at) => [range, ...reals.slice(at, at + 1)]),
  );
  const totals = { model: emptyTally(), real: emptyTally() };
  let seedCount = 0;
  for (const { kind, tally, failure, ...rest } of results) {
    assert.equal(failure, undefined, failure);
    add(totals[kind], tally);
    seedCount += rest.seedCount;
  }
  t.diagnostic(JSON.stringify(totals));
  assert.equal(seedCount, SEEDS);
  if (SEEDS < 2_000) return;
  hasHappened('model', totals.model, (SEEDS - realCount) / 100, SELDOM);
  hasHappened('model', totals.model, (SEEDS - realCount) / 4, OFTEN);
  hasHappened('real', totals.real, realCount / 5, OFTEN);
  assert.ok(totals.real.drains > 0, 'nothing was drained for another shard');
  assert.ok(totals.real.zoneMoves > realCount, 'zones stayed where they were');
});

const OFTEN = ['commits', 'deaths', 'restores', 'removals', 'lostMessages'] as const;
const SELDOM = [
  'aborts',
  'quotaMoves',
  'rebuilt',
  'cancelled',
  'restoredRemoved',
  'restoredUnknown',
  'givenUp',
] as const;

/** Fleets in which nothing happens would prove nothing. */
function hasHappened(
  kind: ShardKind,
  tally: Tally,
  least: number,
  what: readonly (keyof Tally)[],
): void {
  for (const key of what) assert.ok(tally[key] > least, `${kind} ${key}: only ${tally[key]}`);
}

/**
 * Each broke a law once, in the world of its day; the world has grown since and deals their cards anew.
 * From `ownership-2275` on they are of today's: each fails again without the rule that it found.
 */
const FAILED_ONCE: readonly (readonly [ShardKind, string, string])[] = [
  ['model', 'ownership-1011232', 'a home that the restored ledger had forgotten'],
  ['model', 'ownership-1007425', 'released to a shard that was removed; its namesake inherited'],
  ['real', 'ownership-1001815', 'a restored transfer that both its shards had forgotten'],
  ['real', 'ownership-1002869', 'a gone machine was forgotten before its assignment was durable'],
  ['real', 'ownership-1000750', 'a commit of unknown outcome left its machines without a rest'],
  ['model', 'ownership-2275', 'a donor was told to release what it owned again'],
  ['real', 'ownership-1171', 'a domain was called empty, and its next owner’s machines entered'],
  ['real', 'ownership-1172', 'a domain that the restored ledger never mentioned was nobody’s'],
  ['real', 'ownership-1329', 'the home took what ran in a domain that the ledger had forgotten'],
  ['real', 'ownership-1896', 'what was held in recovery let a shard know of a domain too early'],
  ['real', 'ownership-30016', 'what was frozen for one shard went to another with its domain'],
  ['real', 'ownership-31140', 'a revision of a lost ledger was taken for one of today’s'],
  ['model', 'ownership-31460', 'a snapshot restored twice gave its terms and transfer ids twice'],
];
for (const [kind, seed, what] of FAILED_ONCE) {
  test(`once failed: ${what}`, async () => {
    const tally = await runSeed({ kind, seed });
    assert.ok(tally.elections + tally.zoneMoves > 1);
  });
}

for (const kind of ['model', 'real'] as const) {
  test(`one ${kind} seed twice gives the same history; another seed another one`, async () => {
    const collect = async (seed: string): Promise<string[]> => {
      const lines: string[] = [];
      await runSeed({ kind, seed, logLine: (line) => lines.push(line) });
      return lines;
    };
    const first = await collect('ownership-replay');
    assert.ok(first.length > 3, `only ${first.length} lines`);
    assert.deepEqual(await collect('ownership-replay'), first);
    assert.notDeepEqual(await collect('ownership-other'), first);
  });
}

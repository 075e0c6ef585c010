// Proves on random worlds and weather that the whole system keeps its laws: one cluster per machine,
// no reclaim on silence or before a first roll-up, one accepted operation per transition, no machine
// lost or invented, no call of a paused shard, shard and provider of one mind after each List, no action at steady demand, and
// the same history for the same seed. `world/` says how each is judged; a failure prints its replay.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeed } from './world/run-seed.ts';
import { runInWorkers } from './world/seed-range.ts';

const SEEDS = Number(process.env['BIGFLEET_SEEDS'] ?? 2_000);
const WORKERS = 2;
const REPLAY_EVERY = 40;

test(`${SEEDS} seeds of the whole system`, async (t) => {
  assert.ok(Number.isInteger(SEEDS) && SEEDS > 0, 'BIGFLEET_SEEDS must be a positive number');
  const share = Math.ceil(SEEDS / WORKERS);
  const firsts = Array.from({ length: WORKERS }, (_, i) => i * share);
  const total = await runInWorkers(
    firsts
      .map((first) => ({ first, count: Math.min(share, SEEDS - first) }))
      .filter(({ count }) => count > 0)
      .map((range) => ({ kind: 'seeds', replayEvery: REPLAY_EVERY, ...range })),
  );
  t.diagnostic(JSON.stringify(total));
  assert.equal(total.seedCount, SEEDS);
  assert.ok(total.replayCount > 0, 'nothing was replayed');
  // Worlds in which nothing happens would prove nothing.
  assert.ok(total.operationCount >= SEEDS * 3, 'hardly anything was actuated');
  assert.ok(total.lifeCount >= SEEDS * 4, 'hardly anything crashed');
  if (SEEDS >= 100) assert.ok(total.duplicateCount > 0, 'nothing was duplicated');
  if (SEEDS >= 100) assert.ok(total.pauseCount >= SEEDS / 2, 'hardly anything was paused');
  if (SEEDS >= 100) assert.ok(total.incrementalCount >= SEEDS / 4, 'hardly any lists by cursor');
});

test('one seed twice gives the same history, line by line; another seed another one', async () => {
  const collect = async (seed: string): Promise<string[]> => {
    const lines: string[] = [];
    await runSeed({ seed, sink: (line) => lines.push(line) });
    return lines;
  };
  const first = await collect('system-replay');
  assert.ok(first.length > 100, `only ${first.length} lines`);
  assert.deepEqual(await collect('system-replay'), first);
  assert.notDeepEqual(await collect('system-other'), first);
});

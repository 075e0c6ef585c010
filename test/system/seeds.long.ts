// Proves what seeds.test.ts and crash-points.test.ts prove, on as many further seeds and complete
// sweeps as the time box allows: other ones every day, or those from BIGFLEET_SEED on. Prints how
// far it got.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { crashPoints } from './world/crash-points.ts';
import { runInWorkers, type SeedRange } from './world/seed-range.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const MS_PER_DAY = 86_400_000n;
const SEEDS_PER_DAY = 1_000_000;
/** Large enough that a worker warms up. */
const SEEDS_PER_ROUND = 2_000;
const STEPS_PER_ROUND = 100;
const { clock } = realRuntime();
const today = Number(clock.unixNanos() / 1_000_000n / MS_PER_DAY);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? today * SEEDS_PER_DAY);

test('further seeds of the whole system', async (t) => {
  const endMs = clock.monotonicMs() + BOX_MS / 2;
  let done = 0;
  while (clock.monotonicMs() < endMs) {
    const firsts = [FIRST + done, FIRST + done + SEEDS_PER_ROUND];
    const round = { kind: 'seeds' as const, count: SEEDS_PER_ROUND, replayEvery: 20 };
    const budgetMs = endMs - clock.monotonicMs();
    const { seedCount } = await runInWorkers(
      firsts.map((first) => ({ ...round, first, budgetMs })),
    );
    done += seedCount;
  }
  t.diagnostic(`${done} seeds from ${FIRST} on, in pieces of ${SEEDS_PER_ROUND}`);
  assert.ok(done > 0, 'the time box let no seed run');
});

test('every crash point of further lives', async (t) => {
  let endMs = Number.POSITIVE_INFINITY;
  let done = 0;
  for (let life = 0; clock.monotonicMs() < endMs; life++) {
    const swept = await sweep(`system-sweep-${FIRST + life}`);
    // From the first plan on: to make it may take longer than a small box.
    endMs = Math.min(endMs, clock.monotonicMs() + BOX_MS / 2);
    for (const ranges of pairs(swept)) {
      const budgetMs = endMs - clock.monotonicMs();
      if (budgetMs <= 0) break;
      done += (await runInWorkers(ranges.map((range) => ({ ...range, budgetMs })))).strikeCount;
    }
  }
  t.diagnostic(`${done} crash points of lives from ${FIRST} on`);
  assert.ok(done > 0, 'the time box let no crash point run');
});

async function sweep(seed: string): Promise<readonly SeedRange[]> {
  const { hosts, stepCount } = await crashPoints(seed);
  const ranges: SeedRange[] = [];
  for (let first = 1; first <= stepCount; first += STEPS_PER_ROUND) {
    const length = Math.min(STEPS_PER_ROUND, stepCount - first + 1);
    const steps = Array.from({ length }, (_, i) => first + i);
    for (const host of hosts) ranges.push({ kind: 'crash-points', seed, host, steps });
  }
  return ranges;
}

function* pairs<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < values.length; at += 2) yield values.slice(at, at + 2);
}

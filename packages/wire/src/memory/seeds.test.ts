// Proves that random echo systems under random faults break no law of the transport: one outcome
// per call and in time, streams without gap or repetition, nothing leaked, nothing hanging; and
// that a seed replays to the same event log, byte for byte.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeed } from './testing/seed-run.ts';
import { runSeeds } from './testing/run-seeds.ts';

const SEEDS = Number(process.env['BIGFLEET_SEEDS'] ?? 10_000);

test(`${SEEDS} random seeds without a leak or a hang`, async (t) => {
  assert.ok(Number.isInteger(SEEDS) && SEEDS > 0, 'BIGFLEET_SEEDS must be a positive number');
  const summary = await runSeeds({ first: 0n, count: SEEDS, replayEvery: 50 });
  assert.equal(summary.seedCount, SEEDS);
  assert.equal(summary.replayCount, Math.ceil(SEEDS / 50));
  // Seeds in which nothing ever failed would prove nothing.
  const expected = SEEDS < 100 ? ['OK'] : ['OK', 'UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED'];
  for (const code of expected) {
    assert.ok((summary.outcomes.get(code) ?? 0) > 0, `no call ended ${code}`);
  }
  t.diagnostic(`calls by status: ${JSON.stringify(Object.fromEntries(summary.outcomes))}`);
});

test('one seed twice gives the same log, byte for byte; another seed another one', async () => {
  const collect = async (seed: string): Promise<string[]> => {
    const lines: string[] = [];
    await runSeed(seed, { sink: (line) => lines.push(line) });
    return lines;
  };
  const first = await collect('replay');
  assert.ok(first.length > 50, `only ${first.length} lines`);
  assert.deepEqual(await collect('replay'), first);
  assert.notDeepEqual(await collect('other'), first);
});

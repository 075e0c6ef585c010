// Proves that the whole-system seeds can fail: a world that is wrong in one known way is found out
// within a few seeds, by the law that forbids it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MUTANTS, type Mutant } from './world/mutant.ts';
import { runSeed } from './world/run-seed.ts';
import { seedName } from './world/seed-range.ts';

const MAX_SEEDS = 60;

const charges: Readonly<Record<Mutant, RegExp>> = {
  'early-ack': /went from|second host|is .* here, .* at p|joins/,
  'same-epoch': /the living shard was fenced/,
  'sticky-drain': /joins c\d while it serves/,
  'rash-shard': /which has not reported yet/,
  'deaf-shard': /which wants all that it has/,
  'half-paused': /a paused shard called/,
  'second-writer': /got a second host/,
};

for (const mutant of MUTANTS) {
  test(`${mutant} is found out`, async (t) => {
    for (let seed = 0; seed < MAX_SEEDS; seed++) {
      const problem = await problemOf(seedName(seed), mutant);
      if (problem === undefined || !charges[mutant].test(problem)) continue;
      t.diagnostic(`seed ${seed}: ${problem.replaceAll(/\s+/g, ' ').slice(0, 160)}`);
      return;
    }
    assert.fail(`no law that names it was broken in ${MAX_SEEDS} seeds`);
  });
}

async function problemOf(seed: string, mutant: Mutant): Promise<string | undefined> {
  try {
    await runSeed({ seed, mutant });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

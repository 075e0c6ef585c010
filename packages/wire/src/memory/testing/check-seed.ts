// Runs one seed, and again where asked; throws a report that starts with the seed.

import assert from 'node:assert/strict';
import { runSeed, type SeedResult } from './seed-run.ts';

export interface CheckSeedOptions {
  /** Run it twice and compare the logs. */
  readonly replay: boolean;
}

export async function checkSeed(seed: string, options: CheckSeedOptions): Promise<SeedResult> {
  const result = await runOnce(seed);
  if (options.replay) {
    const again = await runOnce(seed);
    assert.equal(again.hash, result.hash, `seed ${seed}: the second run differs from the first`);
  }
  return result;
}

async function runOnce(seed: string): Promise<SeedResult> {
  let result: SeedResult;
  try {
    result = await runSeed(seed);
  } catch (cause) {
    throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
  }
  assert.equal(
    result.violations.length,
    0,
    `seed ${seed}:\n${result.violations.join('\n')}\n--- end of its log\n${result.tail.join('\n')}`,
  );
  return result;
}

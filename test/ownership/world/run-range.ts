// A range of seeds in this thread, one after the other, up to the first that breaks a law.

import { realRuntime } from '@bigfleet/base/real';
import { runSeed } from './run-seed.ts';
import type { RangeResult, SeedRange } from './seed-range.ts';
import { add, emptyTally } from './tally.ts';

function seedName(number: number): string {
  return `ownership-${number}`;
}

/** Never rejects for a broken law: whoever asked says what a failure means. */
export async function runRange(range: SeedRange): Promise<RangeResult> {
  const { clock } = realRuntime();
  const endMs = clock.monotonicMs() + (range.budgetMs ?? Number.POSITIVE_INFINITY);
  const tally = emptyTally();
  let seedCount = 0;
  for (let at = 0; at < range.count && clock.monotonicMs() < endMs; at++) {
    const seed = seedName(range.first + at);
    seedCount += 1;
    try {
      add(
        tally,
        await runSeed({
          seed,
          kind: range.kind,
          ...(range.fault === undefined ? {} : { fault: range.fault }),
        }),
      );
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const fault = range.fault === undefined ? '' : ` ${range.fault}`;
      const again = `node test/ownership/replay-main.ts ${range.kind} ${seed}${fault}`;
      return {
        kind: range.kind,
        seedCount,
        tally,
        failure: `seed ${seed}: ${problem}\nsee it again: ${again}`,
      };
    }
  }
  return { kind: range.kind, seedCount, tally, failure: undefined };
}

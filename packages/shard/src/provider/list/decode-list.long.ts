// Proves the same as decode-list.test.ts on a million hostile Lists. BIGFLEET_LONG_MS bounds the
// time; the run then says how far it got. BIGFLEET_SEED replays a run.

import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { judgeList } from './testing/judge.ts';
import { randomList } from './testing/random-list.ts';

const INPUTS = 1_000_000;
const BATCH = 2_000;

test(`${INPUTS} hostile Lists`, (t) => {
  const { clock, random } = realRuntime();
  const seed = process.env['BIGFLEET_SEED'] ?? String(random.uint32());
  const budgetMs = Number(process.env['BIGFLEET_LONG_MS'] ?? Infinity);
  const startMs = clock.monotonicMs();
  let index = 0;
  let rows = 0;
  try {
    do {
      const end = Math.min(index + BATCH, INPUTS);
      for (; index < end; index++) rows += judgeList(randomList(seed, index)).rows;
    } while (index < INPUTS && clock.monotonicMs() - startMs < budgetMs);
  } finally {
    const seconds = ((clock.monotonicMs() - startMs) / 1000).toFixed(1);
    t.diagnostic(`seed ${seed}: ${index} of ${INPUTS} Lists, ${rows} records, in ${seconds} s`);
  }
});

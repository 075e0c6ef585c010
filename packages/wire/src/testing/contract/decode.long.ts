// Proves the same as decode.test.ts on a million inputs, for `make test-long`. BIGFLEET_LONG_MS
// bounds the time; the run then says how far it got. BIGFLEET_SEED replays a run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { fuzzCase, judge, prototypeNames } from './fuzz.ts';

const INPUTS = 1_000_000;
const BATCH = 10_000;

test(`${INPUTS} hostile inputs`, (t) => {
  const { clock, random } = realRuntime();
  const seed = process.env['BIGFLEET_SEED'] ?? String(random.uint32());
  const budgetMs = Number(process.env['BIGFLEET_LONG_MS'] ?? Infinity);
  const startMs = clock.monotonicMs();
  const before = prototypeNames();
  const counts = { decoded: 0, refused: 0 };
  let index = 0;
  do {
    const end = Math.min(index + BATCH, INPUTS);
    for (; index < end; index++) counts[judge(fuzzCase(seed, index))] += 1;
    assert.deepEqual(prototypeNames(), before, `before input ${index}, seed ${seed}`);
  } while (index < INPUTS && clock.monotonicMs() - startMs < budgetMs);
  const seconds = ((clock.monotonicMs() - startMs) / 1000).toFixed(1);
  t.diagnostic(
    `seed ${seed}: ${index} of ${INPUTS} inputs in ${seconds} s, ${counts.decoded} decoded, ${counts.refused} refused`,
  );
});

// The property of ownership.test.ts over many more histories, within a time box.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { runOwnership } from './testing/ownership-run.ts';

const FIRST_SEED = 1_000;
const RUNS = 20_000;
const STEPS = 200;
const DEFAULT_BOX_MS = 120_000;

it('one owner per machine over many histories', async (context) => {
  const boxMs = Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_BOX_MS);
  const { clock } = realRuntime();
  const endMs = clock.monotonicMs() + boxMs;
  let at = 0;
  for (; at < RUNS && clock.monotonicMs() < endMs; at++) {
    const seed = BigInt(FIRST_SEED + at);
    const result = await runOwnership({ seed, steps: STEPS });
    const history = result.history.join('\n');
    assert.equal(result.violation, undefined, `seed ${seed}\n${history}`);
    assert.equal(result.owned, result.machines, `seed ${seed}: nobody acts on some\n${history}`);
  }
  context.diagnostic(`${at} of ${RUNS} histories, seeds from ${FIRST_SEED}`);
  assert.ok(at > 0);
});

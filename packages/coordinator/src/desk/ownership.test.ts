// Proves over random histories (lost replies, restarts, elections, domains and entries changed by hand)
// that assignments never let two shards act on one machine, and that in the end somebody does.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runOwnership } from './testing/ownership-run.ts';

const RUNS = 60;
const STEPS = 120;

it(`${RUNS} histories of ${STEPS} steps: one owner per machine`, async (context) => {
  let machines = 0;
  for (let at = 0; at < RUNS; at++) {
    const seed = BigInt(at);
    const result = await runOwnership({ seed, steps: STEPS });
    const last = result.history.slice(-30).join('\n');
    assert.equal(result.violation, undefined, `seed ${seed}\n${last}`);
    assert.equal(result.owned, result.machines, `seed ${seed}: nobody acts on some\n${last}`);
    machines += result.machines;
  }
  context.diagnostic(`seeds 0 to ${RUNS - 1}: ${machines} machines owned at rest`);
  assert.ok(machines > RUNS, 'the histories connect providers');
});

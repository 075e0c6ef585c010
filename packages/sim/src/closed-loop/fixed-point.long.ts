// Proves on thousands of random worlds that constant demand comes to rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { printSeed, SCENARIO_SEED } from '../seeds.ts';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop } from './closed-loop.ts';
import { expectConverged } from './testing/expect.ts';
import { randomWorld } from './testing/random-world.ts';

const COUNT = Number(process.env['BIGFLEET_WORLD_COUNT'] ?? 5_000);
const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);
const CYCLES = 120;
const TRAILING = 40;

const { clock } = realRuntime();

for (const { name, decide } of deciders) {
  test(`${COUNT} random worlds come to rest (${name}, ${printSeed(SCENARIO_SEED)})`, (context) => {
    const startMs = clock.monotonicMs();
    let done = 0;
    while (done < COUNT && clock.monotonicMs() - startMs < TIME_BOX_MS / deciders.length) {
      const { plan, seed } = randomWorld(done);
      expectConverged(new ClosedLoop(plan, { decide, seed }).run(CYCLES), TRAILING);
      done++;
    }
    assert.ok(done > 0, 'the time box ended before the first world');
    context.diagnostic(`${done} of ${COUNT} worlds`);
  });
}

// The interleaving law over many more orders than `make test` has time for: other seeds on every
// day, printed when one fails.

import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { runSeed } from './run-seed.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const ORDERS = 1_000_000;
const MS_PER_DAY = 86_400_000n;

test(`up to ${ORDERS} orders keep the contract`, async (context) => {
  const { clock } = realRuntime();
  const day = clock.unixNanos() / 1_000_000n / MS_PER_DAY;
  const endMs = clock.monotonicMs() + BOX_MS;
  let count = 0;
  while (count < ORDERS && clock.monotonicMs() < endMs) {
    const seed = `interleaving-${day}-${count}`;
    try {
      await runSeed(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
    count++;
  }
  context.diagnostic(`${count} orders from day ${day}`);
});

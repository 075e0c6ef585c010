// Proves the interleaving law: in ten thousand different orders of conflicting calls (two shards,
// retries, a zombie), completions, timeouts, store delays and failures, host losses, crashes and
// stops, no operation id is lost or doubled, marks only rise, each accepted transition has one work
// item, nothing is answered before it is durable, and every record is inside the grid.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeed } from './run-seed.ts';

const ORDERS = 10_000;
/** Seeds may repeat an order; that many at most. */
const MAX_SEEDS = 11_000;

test(`${ORDERS} orders keep the contract`, async (context) => {
  const orders = new Set<string>();
  let seed = 0;
  for (; orders.size < ORDERS && seed < MAX_SEEDS; seed++) {
    try {
      orders.add(await runSeed(`interleaving-${seed}`));
    } catch (error) {
      throw new Error(`seed interleaving-${seed}`, { cause: error });
    }
  }
  context.diagnostic(`${orders.size} orders of ${seed} seeds`);
  assert.equal(orders.size, ORDERS);
});

/** A List showed a change that only memory had, the process died, and its cursor lived on. */
test('kept: a crash behind a change that was shown and not saved', async () => {
  await runSeed('interleaving-20773-11643');
});

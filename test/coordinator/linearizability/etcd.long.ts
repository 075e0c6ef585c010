// Proves the law of etcd.test.ts over 500 histories, or as many as BIGFLEET_LONG_MS allows, with the
// faults drawn from a seed that is printed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { monotonicMs } from '../../toolkit/index.ts';
import { EtcdWorld, type Fault } from './etcd-world.ts';

const RUNS = 500;
const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 30 * 60_000);
const seed = process.env['BIGFLEET_SEED'] ?? realRuntime().entropy.bytes(4).join('');
const faults: readonly Fault[] = [
  'kill-leader',
  'freeze-leader',
  'cut-leader',
  'revoke-lease',
  'kill-etcd-leader',
  'freeze-etcd-leader',
];

test(`${RUNS} histories on a real etcd are linearizable (seed ${seed})`, async (context) => {
  const random = createRandom(seed);
  await using world = await EtcdWorld.start();
  const endMs = monotonicMs() + BOX_MS;
  let done = 0;
  let heard = 0;
  for (; done < RUNS && monotonicMs() < endMs; done += 1) {
    const fault = faults[random.below(faults.length)] ?? 'kill-leader';
    heard += (await world.run(`${seed}-${done}`, fault)).heardCount;
  }
  assert.ok(done > 0 && heard > done * 10, `${heard} answers in ${done} runs`);
  context.diagnostic(`${done} of ${RUNS} runs, ${heard} operations answered`);
});

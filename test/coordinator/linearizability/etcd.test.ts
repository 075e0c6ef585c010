// Proves that what clients of three coordinators on a real three-member etcd hear is linearizable
// while leaders are killed, frozen and cut off from etcd, leases revoked, and etcd members killed and
// frozen: 20 histories, in two worlds side by side. 500 of them: etcd.long.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EtcdWorld, type Fault } from './etcd-world.ts';

/** Both worlds together: every fault at least twice, the slow ones no more than that. */
const schedule: readonly (readonly Fault[])[] = [
  [
    'kill-leader',
    'revoke-lease',
    'freeze-leader',
    'kill-etcd-leader',
    'kill-leader',
    'cut-leader',
    'revoke-lease',
    'freeze-etcd-leader',
    'kill-leader',
    'revoke-lease',
  ],
  [
    'cut-leader',
    'kill-leader',
    'revoke-lease',
    'kill-etcd-leader',
    'freeze-leader',
    'revoke-lease',
    'kill-leader',
    'freeze-etcd-leader',
    'revoke-lease',
    'kill-etcd-leader',
  ],
];

test('20 histories on a real etcd are linearizable', async (context) => {
  let heard = 0;
  let unheard = 0;
  const live = async (faults: readonly Fault[], name: string): Promise<void> => {
    await using world = await EtcdWorld.start();
    for (const [run, fault] of faults.entries()) {
      const judged = await world.run(`${name}-${run}`, fault);
      assert.ok(judged.heardCount >= 10, `${fault}: only ${judged.heardCount} answers`);
      heard += judged.heardCount;
      unheard += judged.unheardCount;
    }
  };
  await Promise.all(schedule.map((faults, at) => live(faults, `world-${at}`)));
  context.diagnostic(`${heard} operations answered, ${unheard} with unknown outcome`);
});

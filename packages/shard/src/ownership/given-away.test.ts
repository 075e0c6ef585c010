// Proves that a machine that was given away leaves at once, also when its new owner was so fast that
// it serves already: the giver once kept it as busy, and could have drained it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { FakeProvider } from '../testing/index.ts';
import { incoming, selector } from './testing/builders.ts';
import { fourCoresIn, OwnedShard } from '../process/testing/owned-shard.ts';

const ADDRESS = 'alpha:9000';

test('what its new owner put to use before the RELEASE is not kept', async () => {
  const time = createVirtualRuntime({ seed: 'given', drain: drainMicrotasks });
  const { runtime } = time;
  const network = createMemoryNetwork({ runtime });
  const fake = new FakeProvider({ runtime, latencyMs: 500 });
  for (const id of ['a', 'b']) fake.addIdle(fourCoresIn('zone-a', id));
  const start = (shardId: string): Promise<OwnedShard> =>
    new OwnedShard({
      time,
      network,
      shardId,
      fakes: new Map([[ADDRESS, fake]]),
      flags: new Map([['alpha', ADDRESS]]),
      isSharedByFlag: true,
    }).start();
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    await time.runFor(1_000);
    return work;
  };
  const donor = await start('s1');
  const recipient = await start('s2');
  await finish(donor.control.applyAssignment(incoming({ ownsUnmatchedProviders: [ADDRESS] })));
  await finish(recipient.control.applyAssignment(incoming()));
  await time.runFor(10_000);
  const order = { transferId: 't1', machineIds: ['a', 'b'] };
  await finish(
    donor.control.prepareTransfer({ transferId: 't1', toShardId: 's2', selector: selector() }),
  );
  await finish(recipient.control.claimTransfer({ ...order, peerShardId: 's1' }));
  await recipient.demand('green', 8);
  await time.runFor(40_000);
  assert.equal(donor.stateOf('a'), State.Configured, 'frozen machines are still listed');
  await finish(donor.control.releaseTransfer({ ...order, peerShardId: 's2' }));
  await time.runFor(20_000);
  assert.deepEqual([donor.stateOf('a'), donor.stateOf('b')], [undefined, undefined]);
  assert.equal(recipient.stateOf('a'), State.Configured);
  await recipient.stop();
  await donor.stop();
});

// Proves that a donor that was just started asks to be asked again: before its first List it has no
// machine, and an answer by that would give the transfer up, or drain others' work in its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { RpcError } from '@bigfleet/wire';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { FakeProvider } from '../testing/index.ts';
import { incoming, selector } from './testing/builders.ts';
import { fourCoresIn, OwnedShard } from './testing/owned-shard.ts';

const ADDRESS = 'alpha:9000';

class LateProvider extends FakeProvider {
  isUp = false;

  override list(request: Parameters<FakeProvider['list']>[0]): ReturnType<FakeProvider['list']> {
    if (!this.isUp) throw new RpcError('UNAVAILABLE', 'it is not up yet');
    return super.list(request);
  }
}

test('PREPARE before the first List fails and is redelivered; what is frozen is answered', async () => {
  const time = createVirtualRuntime({ seed: 'first-list', drain: drainMicrotasks });
  const { runtime } = time;
  const network = createMemoryNetwork({ runtime });
  const fake = new LateProvider({ runtime, latencyMs: 500 });
  for (const id of ['a', 'b']) fake.addIdle(fourCoresIn('zone-a', id));
  const start = (before?: OwnedShard): Promise<OwnedShard> =>
    new OwnedShard({
      time,
      network,
      shardId: 's1',
      fakes: new Map([[ADDRESS, fake]]),
      flags: new Map([['alpha', ADDRESS]]),
      isSharedByFlag: true,
      ...(before === undefined ? {} : { before }),
    }).start();
  const order = { transferId: 't1', toShardId: 's2', selector: selector() };
  const first = await start();
  const early = await first.control.prepareTransfer(order);
  assert.equal(early.kind, 'failed', JSON.stringify(early));
  fake.isUp = true;
  const assigned = first.control.applyAssignment(incoming({ ownsUnmatchedProviders: [ADDRESS] }));
  await time.runFor(20_000);
  await assigned;
  const preparing = first.control.prepareTransfer(order);
  await time.runFor(1_000);
  const prepared = await preparing;
  assert.equal(prepared.kind, 'accepted', JSON.stringify(prepared));
  await first.stop();
  const next = await start(first);
  assert.deepEqual(await next.control.prepareTransfer(order), prepared, 'from its file');
  await next.stop();
});

// Proves that a shard that was just started says nothing by the machines that it has, which are none
// before its first List: a donor asks to be asked again, and no domain that is given up is called
// empty. Otherwise a transfer would be given up, and what runs in the domain would have two owners.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { RpcError } from '@bigfleet/wire';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { FakeProvider } from '../testing/index.ts';
import { incoming, selector } from './testing/builders.ts';
import { fourCoresIn, OwnedShard } from '../process/testing/owned-shard.ts';
import { ADDRESS, ZONE, zone } from '../process/testing/owned-world.ts';

class LateProvider extends FakeProvider {
  isUp = false;

  override list(request: Parameters<FakeProvider['list']>[0]): ReturnType<FakeProvider['list']> {
    if (!this.isUp) throw new RpcError('UNAVAILABLE', 'it is not up yet');
    return super.list(request);
  }
}

interface Scene {
  readonly time: VirtualRuntime;
  readonly fake: LateProvider;
  readonly start: (before?: OwnedShard) => Promise<OwnedShard>;
}

function scene(): Scene {
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
  return { time, fake, start };
}

test('PREPARE before the first List fails and is redelivered; what is frozen is answered', async () => {
  const { time, fake, start } = scene();
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

test('a domain that is given up is not called empty before the first List', async () => {
  const { time, fake, start } = scene();
  fake.isUp = true;
  const first = await start();
  const assigned = first.control.applyAssignment(incoming({ domains: [zone('zone-a')] }));
  await time.runFor(20_000);
  await assigned;
  await first.demand('blue', 8);
  await time.runFor(30_000);
  assert.equal(first.stateOf('a'), State.Configured);
  await first.control.unassignDomain({ key: ZONE, value: 'zone-a' });
  await first.stop();
  fake.isUp = false;
  const next = await start(first);
  await next.control.closeEmptyDomains();
  assert.deepEqual(next.control.ownership().releasingDomains, [zone('zone-a')]);
  fake.isUp = true;
  await time.runFor(20_000);
  assert.equal(next.stateOf('a'), State.Configured, 'it is still its keeper');
  await next.stop();
});

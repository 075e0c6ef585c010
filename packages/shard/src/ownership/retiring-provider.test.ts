// Proves what becomes of a provider whose registry entry is removed while clusters use its machines
// (shard §13): they keep them, nothing new is taken from it, a restart knows both, and it ends with
// its last machine or comes back with its entry.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { createMemoryNetwork } from '@bigfleet/wire/memory';
import { FakeProvider } from '../testing/index.ts';
import type { RegistryTarget } from './assignment.ts';
import { incoming } from './testing/builders.ts';
import { fourCoresIn, OwnedShard } from '../process/testing/owned-shard.ts';

const ADDRESS = 'alpha:9000';
const ENTRY: RegistryTarget = { name: 'alpha', address: ADDRESS, region: 'eu', isShared: false };

/** One provider, in the registry; `bound` serves blue, `idle` and the quota slot `slot` are free. */
class Stage {
  readonly time = createVirtualRuntime({ seed: 'retiring', drain: drainMicrotasks });
  readonly #network = createMemoryNetwork({ runtime: this.time.runtime });
  readonly fake = new FakeProvider({ runtime: this.time.runtime, latencyMs: 500 });
  #revision = 0n;

  static async open(): Promise<{ stage: Stage; shard: OwnedShard }> {
    const stage = new Stage();
    stage.fake.addIdle(fourCoresIn('zone-a', 'bound'));
    const shard = await stage.shard();
    await stage.assign(shard, [ENTRY]);
    await shard.demand('blue', 4);
    await stage.cycles(4);
    assert.equal(shard.stateOf('bound'), State.Configured);
    stage.fake.addIdle(fourCoresIn('zone-a', 'idle'));
    stage.fake.addSpeculative(fourCoresIn('zone-a', 'slot'));
    await stage.cycles(2);
    assert.deepEqual(
      [shard.stateOf('idle'), shard.stateOf('slot')],
      [State.Idle, State.Speculative],
    );
    return { stage, shard };
  }

  shard(before?: OwnedShard): Promise<OwnedShard> {
    return new OwnedShard({
      time: this.time,
      network: this.#network,
      shardId: 's1',
      fakes: new Map([[ADDRESS, this.fake]]),
      ...(before === undefined ? {} : { before }),
    }).start();
  }

  /** The whole registry of this shard from now on. */
  async assign(shard: OwnedShard, providers: readonly RegistryTarget[]): Promise<void> {
    this.#revision += 1n;
    const applied = shard.control.applyAssignment(
      incoming({ revision: this.#revision, providers }),
    );
    await this.time.runFor(1_000);
    await applied;
  }

  cycles(count: number): Promise<void> {
    return this.time.runFor(count * 10_000);
  }
}

function isStored(shard: OwnedShard): 'active' | 'retiring' | 'gone' {
  const text = shard.disk.contents.get('providers.json') ?? '';
  if (!text.includes('"alpha"')) return 'gone';
  return text.includes('"retiring": true') ? 'retiring' : 'active';
}

test('what is bound stays bound, and nothing more is taken', async () => {
  const { stage, shard } = await Stage.open();
  await stage.assign(shard, []);
  // Demand that only this provider could cover.
  await shard.demand('blue', 12);
  await stage.cycles(40);
  assert.equal(shard.stateOf('bound'), State.Configured);
  assert.equal(stage.fake.get('bound').state, State.Configured);
  assert.equal(shard.stateOf('slot'), undefined, 'quota of it is not ours to use');
  assert.equal(stage.fake.get('slot').state, State.Speculative);
  assert.notEqual(stage.fake.get('idle').state, State.Configured, 'nothing is bound anew');
  assert.equal(isStored(shard), 'retiring');
  assert.deepEqual(shard.closed, []);
  await shard.stop();
});

test('a restart in the middle dials it again and keeps what is bound', async () => {
  const { stage, shard } = await Stage.open();
  await stage.assign(shard, []);
  await shard.stop();
  const next = await stage.shard(shard);
  await stage.cycles(3);
  assert.deepEqual(next.dialled, [ADDRESS], 'without it nobody could ever drain the machine');
  await next.demand('blue', 4);
  await stage.cycles(10);
  assert.equal(next.stateOf('bound'), State.Configured);
  assert.equal(isStored(next), 'retiring');
  await next.demand('blue', 0);
  await stage.cycles(6);
  assert.notEqual(stage.fake.get('bound').state, State.Configured, 'drained through its client');
  assert.deepEqual([isStored(next), next.closed], ['gone', [ADDRESS]]);
  await next.stop();
});

test('an entry that returns in time makes it an ordinary provider again', async () => {
  const { stage, shard } = await Stage.open();
  await stage.assign(shard, []);
  await stage.cycles(1);
  await stage.assign(shard, [ENTRY]);
  await shard.demand('blue', 8);
  await stage.cycles(6);
  assert.equal(isStored(shard), 'active');
  assert.equal(shard.stateOf('bound'), State.Configured);
  const serving = ['bound', 'idle', 'slot'].filter(
    (id) => stage.fake.get(id).state === State.Configured,
  );
  assert.equal(serving.length, 2, 'its capacity is taken again');
  assert.deepEqual(shard.closed, []);
  await shard.stop();
});

// Virtual time, a network and two providers, for tests of ownership in whole shards. The first provider
// is shared by flag unless a test says otherwise.

import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createMemoryNetwork, type MemoryNetwork } from '@bigfleet/wire/memory';
import { FakeProvider } from '../../testing/index.ts';
import type { DomainRef, ShardAssignment } from '../../ownership/assignment.ts';
import { OwnedShard, type OwnedShardOptions } from './owned-shard.ts';

export const ADDRESS = 'alpha:9000';
export const ZONE = 'topology.kubernetes.io/zone';
export const HOME: Pick<ShardAssignment, 'ownsUnmatchedProviders'> = {
  ownsUnmatchedProviders: [ADDRESS],
};
export const zone = (value: string, shardId = 's1'): DomainRef => ({ key: ZONE, value, shardId });
export const SHARED: Partial<OwnedShardOptions> = {
  flags: new Map([['alpha', ADDRESS]]),
  isSharedByFlag: true,
};
export class OwnedWorld {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'owned', drain: drainMicrotasks });
  readonly network: MemoryNetwork = createMemoryNetwork({ runtime: this.time.runtime });
  readonly fake: FakeProvider = new FakeProvider({ runtime: this.time.runtime, latencyMs: 500 });
  readonly beta: FakeProvider = new FakeProvider({ runtime: this.time.runtime, latencyMs: 500 });

  shard(shardId: string, options: Partial<OwnedShardOptions> = SHARED): Promise<OwnedShard> {
    const { time, network, fake, beta } = this;
    const fakes = new Map([
      [ADDRESS, fake],
      ['beta:9000', beta],
    ]);
    return new OwnedShard({ time, network, shardId, fakes, ...options }).start();
  }

  /** Settles an order: files and Gets answer in later turns. */
  async finish<T>(work: Promise<T>, ms = 1_000): Promise<T> {
    await this.time.runFor(ms);
    return work;
  }

  cycles(count = 1): Promise<void> {
    return this.time.runFor(count * 10_000);
  }

  /** What its next report says that it still holds of the domains that it gives up. */
  async releasing({ control }: OwnedShard): Promise<readonly DomainRef[]> {
    await this.finish(control.closeEmptyDomains());
    return control.ownership().releasingDomains;
  }
}

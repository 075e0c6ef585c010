// The shards that are followed: those of the command line, and those that the coordinator's registry names.
// A name of the command line wins over the registry, so that a dashboard reaches a shard whose registered
// address leads nowhere from here. A shard that leaves the registry is no longer followed; what it told
// stays until the process ends, marked as absent.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Channel } from '@bigfleet/wire';
import type { Fleet } from '../../model/index.ts';
import type { RegisteredShard } from './coordinator-reader.ts';
import { ShardFollower } from './follow-shard.ts';
import { dialTarget, type Network } from './network.ts';
import type { LabelKeys } from './translate.ts';

export interface ShardSetOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly network: Network;
  readonly fleet: Pick<Fleet, 'shard'>;
  readonly keys: LabelKeys;
  readonly fixed: readonly RegisteredShard[];
  /** A follower ended by a bug. */
  readonly onBug: (bug: unknown) => void;
}

/** The product's own ceiling is 200. */
const MAX_SHARDS = 500;

interface Followed {
  readonly address: string;
  readonly isFixed: boolean;
  readonly follower: ShardFollower;
  readonly channel: Channel;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class ShardSet {
  readonly #options: ShardSetOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: ShardSetOptions) {
    this.#options = options;
    for (const each of options.fixed) this.#start(each, true);
  }

  get names(): readonly string[] {
    return [...this.#followed.keys()];
  }

  follower(shard: string): ShardFollower | undefined {
    return this.#followed.get(shard)?.follower;
  }

  /** What the registry holds now. Of a shard that it lists twice, the address that is followed already stays. */
  register(registered: readonly RegisteredShard[]): void {
    const listed = Map.groupBy(registered, ({ shard }) => shard);
    for (const [shard, followed] of this.#followed) {
      if (followed.isFixed || listed.has(shard)) continue;
      this.#end(shard, followed);
      const told = this.#options.fleet.shard(shard, followed.address);
      told.source('absent', 'it is no longer registered at the coordinator');
    }
    for (const [shard, rows] of listed) {
      const known = this.#followed.get(shard);
      if (known?.isFixed === true || rows.some(({ address }) => address === known?.address))
        continue;
      const next = rows.find(({ address }) => address !== '');
      if (next === undefined) continue;
      if (known !== undefined) this.#end(shard, known);
      this.#start(next, false);
    }
  }

  async stop(): Promise<void> {
    const ending = [...this.#followed.values()];
    for (const [shard, followed] of this.#followed) this.#end(shard, followed);
    await Promise.all(ending.map(({ ended }) => ended));
  }

  #start({ shard, address }: RegisteredShard, isFixed: boolean): void {
    const { network, fleet, onBug } = this.#options;
    if (this.#followed.size >= MAX_SHARDS) return;
    const serverIdentity = { kind: 'shard', id: shard } as const;
    const channel = network.connect({ target: dialTarget(address), serverIdentity });
    const feed = fleet.shard(shard, address);
    const follower = new ShardFollower({ ...this.#options, shard, channel, feed });
    const stop = new AbortController();
    const ended = follower.run(stop.signal).catch(onBug);
    this.#followed.set(shard, { address, isFixed, follower, channel, stop, ended });
  }

  #end(shard: string, { stop, channel, ended }: Followed): void {
    this.#followed.delete(shard);
    stop.abort(new Error('the shard is no longer followed'));
    // The channel last: an open call ends by its signal, not by a torn connection.
    const close = (): void => channel.close();
    ended.then(close, close);
  }
}

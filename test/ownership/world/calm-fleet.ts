// A fleet in which nothing goes wrong: the leader's own loops under virtual time, shards that report
// at their interval. For questions of when and how much, where the seeds ask what may never be.

import { createVirtualRuntime, sleep, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  Cooldowns,
  type CoordinatorObserver,
  type RebalanceSettings,
  sagaRules,
} from '@bigfleet/coordinator';
import { MemoryStore } from '@bigfleet/coordinator/testing';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { Leader } from './leader.ts';
import { MachinePark } from './machine-park.ts';
import { ModelShard } from './model-shard.ts';

export interface CalmFleetOptions {
  readonly shardCount: number;
  readonly machineCount: number;
  readonly reportMs: number;
  readonly cyclesPerReport: number;
  readonly settings: RebalanceSettings;
}

export class CalmFleet {
  readonly time: VirtualRuntime;
  readonly park: MachinePark;
  readonly shards: readonly ModelShard[];
  readonly leader: Leader;
  /** `tier result`, in order. */
  readonly moves: string[];
  readonly counts: { passes: number };
  readonly #end = new AbortController();
  readonly #work: Promise<unknown>[] = [];

  static async start(options: CalmFleetOptions): Promise<CalmFleet> {
    const time = createVirtualRuntime({ seed: 'calm', drain: drainMicrotasks });
    const { runtime } = time;
    const moves: string[] = [];
    const counts = { passes: 0 };
    const store = new MemoryStore({ runtime });
    await store.open();
    const opened = Leader.open({
      name: 'coordinator',
      runtime,
      store,
      leadership: await store.campaign(new AbortController().signal),
      log: createLogger({ clock: runtime.clock, sink: captureSink(), level: 'error' }),
      observer: observing(moves, counts),
      settings: options.settings,
      rules: sagaRules,
      cooldowns: new Cooldowns(),
    });
    await time.runFor(0);
    return new CalmFleet(time, await opened, { moves, counts }, options);
  }

  private constructor(
    time: VirtualRuntime,
    leader: Leader,
    seen: Pick<CalmFleet, 'moves' | 'counts'>,
    options: CalmFleetOptions,
  ) {
    this.time = time;
    this.leader = leader;
    this.moves = seen.moves;
    this.counts = seen.counts;
    this.park = new MachinePark(options.machineCount);
    this.shards = Array.from({ length: options.shardCount }, (_, at) => {
      return new ModelShard({
        id: `s${at}`,
        park: this.park,
        fault: undefined,
        isOldBuild: false,
        cyclesPerReport: options.cyclesPerReport,
        dies: () => false,
        onChanged: () => {},
        onStep: () => {},
        onDeath: () => {},
        post: (report) => this.leader.handle(report),
      });
    });
    this.#work.push(leader.rebalancing.run(this.#end.signal));
    for (const shard of this.shards) this.#work.push(this.#live(shard, options.reportMs));
  }

  shard(at: number): ModelShard {
    const shard = this.shards[at];
    if (shard === undefined) throw new Error(`there is no shard ${at}`);
    return shard;
  }

  /** Virtual milliseconds until it holds; undefined when it never did. */
  async until(isReached: () => boolean, withinMs: number): Promise<number | undefined> {
    const startMs = this.time.nowMs;
    while (!isReached()) {
      if (this.time.nowMs - startMs >= withinMs) return undefined;
      await this.time.runFor(100);
    }
    return this.time.nowMs - startMs;
  }

  /** Fails when a loop of the leader or a shard did. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.time.runFor(60_000);
    await Promise.all(this.#work);
  }

  async #live(shard: ModelShard, reportMs: number): Promise<void> {
    await shard.start();
    while (!this.#end.signal.aborted) {
      await shard.turn();
      await sleep(this.time.runtime, reportMs);
    }
  }
}

function observing(moves: string[], counts: { passes: number }): CoordinatorObserver {
  const nothing = (): void => {};
  return {
    onReport: nothing,
    onPendingInstructions: nothing,
    onUnregisteredProvider: nothing,
    onShardRemoved: nothing,
    onOwnershipConflict: nothing,
    onClusterBindingConflict: nothing,
    onTermJumpRefused: nothing,
    onRebalancePass: () => {
      counts.passes += 1;
    },
    onRebalanceMove: (tier, result) => moves.push(`${tier} ${result}`),
  };
}

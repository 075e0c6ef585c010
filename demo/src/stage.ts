// Everything that lives while the demo runs: workloads of the clusters, the feeds of both shards, the
// transfers between them; and the moments that are shown of it.

import { sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { shardPorts } from './children/start-children.ts';
import type { StageCluster } from './stage-cluster.ts';
import type { RunOptions } from './demo.ts';
import { Decisions } from './feed/decisions.ts';
import type { CoordinatorLink } from './fleet/coordinator-link.ts';
import { type Transfer, watchTransfers } from './fleet/watch-transfers.ts';
import { WatchedShard } from './fleet/watched-shard.ts';
import { type ShardName, SHARDS, HOST } from './places.ts';
import { scrape } from './report/counters.ts';
import { countByState, sumCoverage, summarise, type Summary } from './report/summary.ts';
import { type Scene, unmetByPriority } from './view/scene.ts';

const FRAME_MS = 250;
/**
 * A coordinator lets 30 s pass before its first pass over the fleet. A run that is asked to take just
 * as long stays for the move that it came for; on a busy machine that takes a while.
 */
const MOVE_GRACE_MS = 60_000;

export interface StageOptions extends RunOptions {
  readonly logger: Logger;
  readonly clusters: readonly StageCluster[];
  readonly link: CoordinatorLink;
  /** False on a host where nothing can move. */
  readonly expectsMove: boolean;
}

export class Stage {
  readonly #options: StageOptions;
  readonly #decisions = new Decisions();
  readonly #shards: readonly WatchedShard[];
  #transfers: readonly Transfer[] = [];

  constructor(options: StageOptions) {
    const { runtime, ports, logger } = options;
    this.#options = options;
    const targetOf = (shard: ShardName): string => `${HOST}:${ports[shardPorts[shard][0]]}`;
    const decisions = this.#decisions;
    this.#shards = SHARDS.map(
      (name) => new WatchedShard({ runtime, name, target: targetOf(name), logger, decisions }),
    );
  }

  /** Workloads and feeds, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, link, logger, clusters } = this.#options;
    const onTransfers = (transfers: readonly Transfer[]): void => {
      this.#transfers = transfers;
    };
    await Promise.all([
      ...this.#shards.map((shard) => shard.follow(signal)),
      watchTransfers({ runtime, link, logger, onTransfers }, signal),
      ...clusters.map((cluster) => cluster.run(signal)),
    ]);
  }

  /** True when the whole time passed, false when it was stopped before. */
  async show(startMs: number, halt: AbortSignal): Promise<boolean> {
    const { runtime, view, forMs = Number.POSITIVE_INFINITY } = this.#options;
    for (;;) {
      const elapsedMs = runtime.clock.monotonicMs() - startMs;
      view.show(this.#scene(elapsedMs));
      if (elapsedMs >= forMs && this.#hasSeenMove(elapsedMs - forMs)) return true;
      if (halt.aborted) return false;
      await sleep(runtime, FRAME_MS, halt).catch((error: unknown) => {
        if (!halt.aborted) throw error;
      });
    }
  }

  async summary(startMs: number): Promise<Summary> {
    const { runtime, seed, ports, clusters, expectsMove } = this.#options;
    const endMs = runtime.clock.monotonicMs();
    const scrapeOf = (port: number): ReturnType<typeof scrape> =>
      scrape(runtime, `http://${HOST}:${port}/metrics`);
    const counters = await Promise.all(
      this.#shards.map(({ name }) => scrapeOf(ports[shardPorts[name][1]])),
    );
    const provider = await scrapeOf(ports['provider-metrics']);
    return summarise({
      seed,
      ranMs: endMs - startMs,
      shards: this.#shards.map(({ name, picture }, at) => ({
        name,
        picture,
        counters: counters[at] ?? provider,
      })),
      coverage: this.#coverage(endMs),
      provider,
      transfers: this.#transfers,
      clusters: clusters.map(({ scene }) => scene),
      expectsMove,
    });
  }

  /** What came over serves its cluster, or there was time enough for it. */
  #hasSeenMove(overMs: number): boolean {
    const { runtime, expectsMove } = this.#options;
    if (!expectsMove || overMs >= MOVE_GRACE_MS) return true;
    if (!this.#transfers.some(({ phase }) => phase === 'DONE')) return false;
    const { neverCovered, unmetTooLong } = this.#coverage(runtime.clock.monotonicMs());
    return neverCovered.length === 0 && unmetTooLong.length === 0;
  }

  #coverage(nowMs: number): Summary['needs'] {
    return sumCoverage(this.#shards.map((shard) => shard.coverage(nowMs)));
  }

  #scene(elapsedMs: number): Scene {
    const pictures = this.#shards.map(({ picture }) => picture);
    return {
      seed: this.#options.seed,
      elapsedMs,
      machinesByState: countByState(pictures.flatMap(({ machines }) => [...machines.values()])),
      dollarsPerHour: pictures.reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0),
      shards: this.#shards.map(({ name, picture }) => ({
        name,
        cycle: picture.cycle,
        machinesByState: countByState(picture.machines.values()),
      })),
      transfers: this.#transfers,
      clusters: this.#options.clusters.map(({ scene }) => scene),
      unmet: unmetByPriority(pictures.flatMap(({ needs }) => [...needs.values()])),
      decisions: this.#decisions.latest,
      decisionCount: this.#decisions.totalCount,
    };
  }
}

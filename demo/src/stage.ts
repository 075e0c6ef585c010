// Everything that lives while the demo runs: workloads of the clusters, the feeds of the shards, the
// transfers between them; and the moments that are shown of it.

import { sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { RevivedChild } from './children/revived-child.ts';
import type { StageCluster } from './stage-cluster.ts';
import type { RunOptions } from './demo.ts';
import { Decisions } from './feed/decisions.ts';
import type { CoordinatorLink } from './fleet/coordinator-link.ts';
import { type Transfer, watchTransfers } from './fleet/watch-transfers.ts';
import { WatchedShard } from './fleet/watched-shard.ts';
import { HOST, PROVIDERS, type ShardName } from './places.ts';
import { shardPorts } from './ports/ports.ts';
import { shardsOf } from './profiles.ts';
import { Counters, scrape } from './report/counters.ts';
import {
  countByProvider,
  countByState,
  sumCoverage,
  summarise,
  type Summary,
} from './report/summary.ts';
import { type Scene, unmetByPriority } from './view/scene.ts';

const FRAME_MS = 250;
const NONE = new Counters([]);
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
  readonly shardChildren: readonly Pick<RevivedChild, 'name' | 'isServing' | 'revivalCount'>[];
  /** What a person did to the demo so far. */
  readonly tried: () => readonly string[];
}

export class Stage {
  readonly #options: StageOptions;
  readonly #decisions = new Decisions();
  readonly #shards: readonly WatchedShard[];
  #transfers: readonly Transfer[] = [];

  constructor(options: StageOptions) {
    const { runtime, ports, profile, logger } = options;
    this.#options = options;
    const targetOf = (shard: ShardName): string => `${HOST}:${ports[shardPorts[shard][0]]}`;
    const decisions = this.#decisions;
    this.#shards = shardsOf(profile).map(
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
    const { runtime, seed, profile, ports, clusters, expectsMove, shardChildren } = this.#options;
    const endMs = runtime.clock.monotonicMs();
    const scrapeOf = (port: number): Promise<Counters> =>
      scrape(runtime, `http://${HOST}:${port}/metrics`);
    const shards = this.#shards.map(async ({ name, picture }) => {
      // A shard that somebody has just killed counts nothing.
      const counters = this.#isServing(name) ? await scrapeOf(ports[shardPorts[name][1]]) : NONE;
      return { name, picture, counters };
    });
    return summarise({
      seed,
      profile: profile.name,
      ranMs: endMs - startMs,
      shards: await Promise.all(shards),
      coverage: this.#coverage(endMs),
      providers: await Promise.all(PROVIDERS.map((name) => scrapeOf(ports[`${name}-metrics`]))),
      tried: this.#options.tried(),
      shardRestarts: shardChildren.reduce((sum, { revivalCount }) => sum + revivalCount, 0),
      transfers: this.#transfers,
      clusters: clusters.map(({ scene }) => scene),
      expectsMove,
    });
  }

  #isServing(shard: string): boolean {
    return this.#options.shardChildren.some(({ name, isServing }) => name === shard && isServing);
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
    const machines = pictures.flatMap((picture) => [...picture.machines.values()]);
    const byProvider = countByProvider(machines);
    const { seed, dashboardUrl } = this.#options;
    return {
      seed,
      dashboardUrl,
      elapsedMs,
      machinesByState: countByState(machines),
      providers: PROVIDERS.map((name) => {
        const counts = byProvider[name] ?? {};
        const count = Object.values(counts).reduce((sum, one) => sum + one, 0);
        const { Configured: servingCount = 0, Idle: idleCount = 0 } = counts;
        return { name, count, servingCount, idleCount };
      }),
      dollarsPerHour: pictures.reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0),
      shards: this.#shards.map(({ name, picture }) => ({
        name,
        isServing: this.#isServing(name),
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

// The demonstration from start to stop: provider and shard as processes, three clusters in here, the
// shard's live feed behind the view. Stops in the order that loses nothing: clusters, feed, shard,
// provider. Wiring; what is shown and judged is decided elsewhere.

import path from 'node:path';
import { createRandom, type Runtime, sleep } from '@bigfleet/base';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { WatchFrame } from '@bigfleet/wire';
import type { Child } from './children/child.ts';
import { startProvider, startShard } from './children/start-children.ts';
import { clusterPlans } from './clusters/plans.ts';
import { createCluster, type RunningCluster } from './clusters/run-cluster.ts';
import { Coverage } from './feed/coverage.ts';
import { Decisions } from './feed/decisions.ts';
import { FleetPicture } from './feed/fleet-picture.ts';
import { followShard } from './feed/follow-shard.ts';
import type { DemoOptions } from './options.ts';
import { HOST } from './ports.ts';
import { isSold } from './provider/shapes.ts';
import { scrape } from './report/counters.ts';
import { countByState, summarise, type Summary } from './report/summary.ts';
import type { View } from './view/output.ts';
import { type Scene, unmetByPriority } from './view/scene.ts';
import { fileSink } from './work-dir.ts';

const FRAME_MS = 250;

export interface RunOptions extends DemoOptions {
  readonly runtime: Runtime;
  readonly view: View;
  readonly dir: string;
  /** Ctrl-C. */
  readonly stop: AbortSignal;
}

export interface RunResult {
  readonly summary: Summary;
  /** It ran for as long as it was asked to, and may be judged. */
  readonly isWhole: boolean;
}

export async function runDemo(options: RunOptions): Promise<RunResult> {
  const { runtime, view, dir, stop } = options;
  const startMs = runtime.clock.monotonicMs();
  await using stack = new AsyncDisposableStack();
  const children: Child[] = [];
  // One after the other: a shard that finds no provider looks again ten seconds later. Disposal
  // runs backwards, the shard before its provider.
  for (const start of [startProvider, startShard]) {
    const child = start(options);
    children.push(child);
    stack.defer(() => child.stop());
    await child.ready(stop);
    view.line(`${child.name} runs as process ${child.pid}`);
  }
  const readyMs = runtime.clock.monotonicMs();
  view.line(`ready after ${((readyMs - startMs) / 1_000).toFixed(1)} s`);
  const sink = fileSink(path.join(dir, 'clusters.log'));
  stack.defer(() => sink.close());
  const logger = createLogger({ clock: runtime.clock, sink, fields: { component: 'demo' } });
  const stage = new Stage(options, logger);
  const ending = new AbortController();
  const halt = AbortSignal.any([stop, ending.signal]);
  const background = stage.run(halt);
  const mishaps = [background.then(never), ...children.map(({ died }) => died)];
  let result: RunResult;
  try {
    const isWhole = await Promise.race([stage.show(readyMs, halt), ...mishaps]);
    result = { summary: await stage.summary(readyMs), isWhole };
  } finally {
    ending.abort(new Error('the demo ends'));
    await Promise.allSettled([background]);
  }
  // A bug of the last moment is a bug all the same.
  await background;
  return result;
}

/** The background ends before the show only because of a stop, and then the show ends by itself. */
function never(): Promise<never> {
  return new Promise<never>(() => {});
}

class Stage {
  readonly #options: RunOptions;
  readonly #logger: Logger;
  readonly #picture = new FleetPicture();
  readonly #coverage = new Coverage(isSold);
  readonly #decisions = new Decisions();
  readonly #clusters: readonly RunningCluster[];

  constructor(options: RunOptions, logger: Logger) {
    const { runtime, seed, ports } = options;
    this.#options = options;
    this.#logger = logger;
    const random = createRandom(seed).stream('clusters');
    const target = `${HOST}:${ports.shard}`;
    this.#clusters = clusterPlans.map((plan) =>
      createCluster({ runtime, random: random.stream(plan.id), plan, target, logger }),
    );
  }

  /** Sessions and feed, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, ports } = this.#options;
    const target = `${HOST}:${ports.shard}`;
    const onFrame = (frame: WatchFrame): void => this.#take(frame);
    await Promise.all([
      followShard({ runtime, target, logger: this.#logger, onFrame }, signal),
      ...this.#clusters.map((cluster) => cluster.run(signal)),
    ]);
  }

  /** True when the whole time passed, false when it was stopped before. */
  async show(startMs: number, halt: AbortSignal): Promise<boolean> {
    const { runtime, view, forMs = Number.POSITIVE_INFINITY } = this.#options;
    for (;;) {
      const elapsedMs = runtime.clock.monotonicMs() - startMs;
      view.show(this.#scene(elapsedMs));
      if (elapsedMs >= forMs) return true;
      if (halt.aborted) return false;
      await sleep(runtime, Math.min(FRAME_MS, forMs - elapsedMs), halt).catch((error: unknown) => {
        if (!halt.aborted) throw error;
      });
    }
  }

  async summary(startMs: number): Promise<Summary> {
    const { runtime, seed, ports } = this.#options;
    const endMs = runtime.clock.monotonicMs();
    const coverage = this.#coverage.report(endMs);
    const metricsOf = (port: number): string => `http://${HOST}:${port}/metrics`;
    const [shard, provider] = await Promise.all([
      scrape(runtime, metricsOf(ports['shard-metrics'])),
      scrape(runtime, metricsOf(ports['provider-metrics'])),
    ]);
    const ranMs = endMs - startMs;
    return summarise({ seed, ranMs, picture: this.#picture, coverage, shard, provider });
  }

  #take(frame: WatchFrame): void {
    if (frame.frame.case === 'record') this.#decisions.add(frame.frame.value.payload);
    if (!this.#picture.apply(frame)) return;
    this.#coverage.observe(this.#picture, this.#options.runtime.clock.monotonicMs());
  }

  #scene(elapsedMs: number): Scene {
    return {
      seed: this.#options.seed,
      elapsedMs,
      cycle: this.#picture.cycle,
      machinesByState: countByState(this.#picture.machines.values()),
      dollarsPerHour: this.#picture.dollarsPerHour,
      clusters: this.#clusters.map(({ id, session, population, cluster }) => ({
        id,
        isConnected: session.isConnected,
        podCount: population.podCount,
        nodeCount: cluster.nodeCount,
      })),
      unmet: unmetByPriority(this.#picture.needs.values()),
      decisions: this.#decisions.latest,
      decisionCount: this.#decisions.totalCount,
    };
  }
}

// The demonstration from start to stop: coordinator, provider and two shards as processes. Stops in
// the order that loses nothing: clusters and feeds, shards, provider, coordinator. Wiring; what is
// shown and judged is decided elsewhere.

import path from 'node:path';
import type { Runtime } from '@bigfleet/base';
import { createLogger } from '@bigfleet/telemetry';
import type { Child } from './children/child.ts';
import { startCoordinator, startProvider, startShard } from './children/start-children.ts';
import { CoordinatorLink } from './fleet/coordinator-link.ts';
import { type ProviderAddress, providerAddress } from './fleet/provider-address.ts';
import type { DemoOptions } from './options.ts';
import { SHARDS, HOST } from './places.ts';
import type { Summary } from './report/summary.ts';
import { Stage } from './stage.ts';
import type { View } from './view/scene.ts';
import { fileSink } from './work-dir.ts';

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
  const { runtime, view, dir, stop, ports } = options;
  const startMs = runtime.clock.monotonicMs();
  await using stack = new AsyncDisposableStack();
  const provider = await providerAddress(runtime);
  const children = await startChildren(options, provider, stack);
  const link = stack.use(new CoordinatorLink(runtime, `${HOST}:${ports.coordinator}`));
  // Ends with the run either way; who has lost the race must not be an unhandled failure.
  const assigning = link.assignZones(stop);
  assigning.catch(() => undefined);
  await Promise.race([assigning, ...children.map(({ died }) => died)]);
  const readyMs = runtime.clock.monotonicMs();
  view.line(`ready after ${((readyMs - startMs) / 1_000).toFixed(1)} s`);
  if (!provider.isFleetWide) view.line(NO_MOVE);
  const sink = fileSink(path.join(dir, 'clusters.log'));
  stack.defer(() => sink.close());
  const logger = createLogger({ clock: runtime.clock, sink, fields: { component: 'demo' } });
  const stage = new Stage({ ...options, logger, link, expectsMove: provider.isFleetWide });
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

const NO_MOVE =
  'this host has no address but loopback, behind which nothing moves between shards: no transfer ' +
  'will be seen';

/** A shard that finds no provider looks again ten seconds later: shards come last. */
async function startChildren(
  options: RunOptions,
  provider: ProviderAddress,
  stack: AsyncDisposableStack,
): Promise<readonly Child[]> {
  const { view, stop } = options;
  const given = { ...options, provider };
  const together = async (started: readonly Child[]): Promise<readonly Child[]> => {
    stack.defer(async () => void (await Promise.all(started.map((child) => child.stop()))));
    await Promise.all(started.map((child) => child.ready(stop)));
    for (const { name, pid } of started) view.line(`${name} runs as process ${pid}`);
    return started;
  };
  return [
    ...(await together([startCoordinator(given), startProvider(given)])),
    ...(await together(SHARDS.map((shard) => startShard(shard, given)))),
  ];
}

/** The background ends before the show only because of a stop, and then the show ends by itself. */
function never(): Promise<never> {
  return new Promise<never>(() => {});
}

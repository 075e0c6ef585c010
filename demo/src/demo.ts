// The demonstration from start to stop: control planes, coordinator, provider, two shards and operators as
// processes. Stops in the order that loses nothing: workloads and feeds, operators, shards, then what all
// of them speak to. Wiring; what is shown and judged is decided elsewhere.

import path from 'node:path';
import type { Runtime } from '@bigfleet/base';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { Child } from './children/child.ts';
import {
  startControlPlanes,
  startCoordinator,
  startOperators,
  startProvider,
  startShard,
} from './children/start-children.ts';
import { StageCluster } from './stage-cluster.ts';
import { CoordinatorLink } from './fleet/coordinator-link.ts';
import { type ProviderAddress, providerAddress } from './fleet/provider-address.ts';
import { type ClusterAddress, joinedCluster, ownClusters } from './kube/cluster-addresses.ts';
import { Guest } from './kube/guest.ts';
import type { DemoOptions } from './options.ts';
import { HOST, operatorPort, SHARDS } from './places.ts';
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
  const clusters = await clusterAddresses(options, stack);
  const given = { ...options, provider, clusters };
  const children = [...(await startFleet(given, stack))];
  const link = stack.use(new CoordinatorLink(runtime, `${HOST}:${ports.coordinator}`));
  // Ends with the run either way; who has lost the race must not be an unhandled failure.
  const assigning = link.assignZones(stop);
  assigning.catch(() => undefined);
  await Promise.race([assigning, ...children.map(({ died }) => died)]);
  children.push(...(await together([startOperators(given)], given, stack)));
  const readyMs = runtime.clock.monotonicMs();
  view.line(`ready after ${((readyMs - startMs) / 1_000).toFixed(1)} s`);
  if (!provider.isFleetWide) view.line(NO_MOVE);
  const sink = fileSink(path.join(dir, 'clusters.log'));
  stack.defer(() => sink.close());
  const logger = createLogger({ clock: runtime.clock, sink, fields: { component: 'demo' } });
  const stage = new Stage({
    ...options,
    logger,
    link,
    expectsMove: provider.isFleetWide,
    clusters: await stageClusters(options, clusters, logger),
  });
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

/** With the cluster that somebody brought along, which gets BigFleet's definitions first. */
async function clusterAddresses(
  { runtime, view, dir, stop, ports, kubeconfig }: RunOptions,
  stack: AsyncDisposableStack,
): Promise<readonly ClusterAddress[]> {
  if (kubeconfig === undefined) return ownClusters(dir, ports);
  const guest = await Guest.enter({ runtime, kubeconfig, tell: (line) => view.line(line) }, stop);
  // Outlives everything that writes into it.
  stack.defer(() => guest.leave());
  return [...ownClusters(dir, ports), joinedCluster(kubeconfig)];
}

async function stageClusters(
  { runtime, seed, ports }: RunOptions,
  clusters: readonly ClusterAddress[],
  logger: Logger,
): Promise<readonly StageCluster[]> {
  return await Promise.all(
    clusters.map((address) => {
      const operatorUrl = `http://${HOST}:${ports[operatorPort(address.id)]}/metrics`;
      return StageCluster.connect({ runtime, seed, address, operatorUrl, logger });
    }),
  );
}

interface ChildrenOptions extends RunOptions {
  readonly provider: ProviderAddress;
  readonly clusters: readonly ClusterAddress[];
}

/**
 * Everything but the operators, which ask for machines at once: they come when every shard has its zones.
 * A shard that finds no provider looks again ten seconds later: shards come last.
 */
async function startFleet(
  options: ChildrenOptions,
  stack: AsyncDisposableStack,
): Promise<readonly Child[]> {
  const first = [startControlPlanes, startCoordinator, startProvider];
  const shards = (): readonly Child[] => SHARDS.map((shard) => startShard(shard, options));
  return [
    ...(await together(
      first.map((start) => start(options)),
      options,
      stack,
    )),
    ...(await together(shards(), options, stack)),
  ];
}

async function together(
  started: readonly Child[],
  { view, stop }: ChildrenOptions,
  stack: AsyncDisposableStack,
): Promise<readonly Child[]> {
  stack.defer(async () => void (await Promise.all(started.map((child) => child.stop()))));
  await Promise.all(started.map((child) => child.ready(stop)));
  for (const { name, pid } of started) view.line(`${name} runs as process ${pid}`);
  return started;
}

/** The background ends before the show only because of a stop, and then the show ends by itself. */
function never(): Promise<never> {
  return new Promise<never>(() => {});
}

// The demonstration from start to stop: control planes, store, coordinator, providers, shards, operators and
// the dashboard as processes. Stops in the order that loses nothing: workloads and feeds, operators, shards,
// then what all of them speak to. Wiring; what is shown and judged is decided elsewhere.

import path from 'node:path';
import { BigFleetError, type Runtime } from '@bigfleet/base';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { Running } from './children/child.ts';
import { REVIVED_AFTER_MS, RevivedChild } from './children/revived-child.ts';
import {
  providerSocket,
  startControlPlanes,
  startCoordinator,
  startDashboard,
  startEtcd,
  startOperators,
  startProvider,
  startShard,
} from './children/start-children.ts';
import { serveCommands } from './control/commands.ts';
import { DemoCommands } from './control/demo-commands.ts';
import { announce, demoSocket } from './control/running-demo.ts';
import { CoordinatorLink } from './fleet/coordinator-link.ts';
import { type ProviderAddress, providerAddress } from './fleet/provider-address.ts';
import { type ClusterAddress, joinedCluster, ownClusters } from './kube/cluster-addresses.ts';
import { Guest } from './kube/guest.ts';
import type { DemoOptions } from './options.ts';
import { HOST, PROVIDERS, type ShardName } from './places.ts';
import { operatorPort } from './ports/ports.ts';
import { hasMove, type Profile, shardsOf } from './profiles.ts';
import type { Summary } from './report/summary.ts';
import { StageCluster } from './stage-cluster.ts';
import { Stage } from './stage.ts';
import type { View } from './view/scene.ts';
import { fileSink } from './work-dir.ts';

export interface RunOptions extends DemoOptions {
  readonly runtime: Runtime;
  readonly view: View;
  readonly dir: string;
  readonly dashboardUrl: string;
  /** What to say when everything runs. */
  readonly welcome: readonly string[];
  /** Ctrl-C. */
  readonly stop: AbortSignal;
}

export interface RunResult {
  readonly summary: Summary;
  /** It ran for as long as it was asked to, undisturbed, and may be judged. */
  readonly isWhole: boolean;
}

export async function runDemo(options: RunOptions): Promise<RunResult> {
  const { runtime, view, dir, stop, ports, profile } = options;
  const startMs = runtime.clock.monotonicMs();
  await using stack = new AsyncDisposableStack();
  const provider = await providerAddress(runtime);
  const clusters = await clusterAddresses(options, stack);
  const cast = new Cast({ ...options, provider, clusters }, stack);
  await Promise.race([cast.start(), cast.died]);
  const target = `${HOST}:${ports.coordinator}`;
  const link = stack.use(new CoordinatorLink({ runtime, profile, target }));
  // Ends with the run either way; who has lost the race must not be an unhandled failure.
  const assigning = link.assignZones(stop);
  assigning.catch(() => undefined);
  await Promise.race([assigning, cast.died]);
  await Promise.race([cast.startOperators(), cast.died]);
  await cast.dashboardTried;
  const readyMs = runtime.clock.monotonicMs();
  view.line(`ready after ${((readyMs - startMs) / 1_000).toFixed(1)} s`);
  const expectsMove = provider.isFleetWide && hasMove(profile);
  if (hasMove(profile) && !provider.isFleetWide) view.line(NO_MOVE);
  for (const line of options.welcome) view.line(line);
  const sink = fileSink(path.join(dir, 'clusters.log'));
  stack.defer(() => sink.close());
  const logger = createLogger({ clock: runtime.clock, sink, fields: { component: 'demo' } });
  const ending = new AbortController();
  const halt = AbortSignal.any([stop, ending.signal]);
  const { shards } = cast;
  const commands = await openCommands(options, shards, halt, stack);
  const stage = new Stage({
    ...options,
    logger,
    link,
    expectsMove,
    shardChildren: shards,
    tried: () => commands.tried,
    clusters: await stageClusters(options, clusters, logger),
  });
  const background = stage.run(halt);
  const mishaps = [background.then(never), cast.died];
  let result: RunResult;
  try {
    const isWhole = await Promise.race([stage.show(readyMs, halt), ...mishaps]);
    const isUndisturbed = commands.tried.length === 0;
    result = { summary: await stage.summary(readyMs), isWhole: isWhole && isUndisturbed };
    view.close();
    view.line('stopping everything: a shard may take some seconds to finish what it began');
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
  { runtime, view, dir, stop, ports, profile, kubeconfig }: RunOptions,
  stack: AsyncDisposableStack,
): Promise<readonly ClusterAddress[]> {
  if (kubeconfig === undefined) return ownClusters(dir, profile, ports);
  const guest = await Guest.enter({ runtime, kubeconfig, tell: (line) => view.line(line) }, stop);
  // Outlives everything that writes into it.
  stack.defer(() => guest.leave());
  return [...ownClusters(dir, profile, ports), joinedCluster(kubeconfig)];
}

/** From here on a second terminal finds the demo and may disturb it. */
async function openCommands(
  { runtime, view, dir, dashboardUrl, profile }: RunOptions,
  shards: readonly RevivedChild[],
  signal: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<DemoCommands> {
  const commands = new DemoCommands({
    runtime,
    shards,
    socketOf: (name) => providerSocket(dir, name),
    tell: (line) => view.line(line),
    signal,
  });
  const server = await serveCommands(demoSocket(dir), commands.commands);
  stack.defer(() => void server.close());
  const { clusters } = profile;
  const zones = zonesOf(profile);
  const shardNames = shardsOf(profile);
  stack.use(announce({ pid: process.pid, dir, dashboardUrl, shards: shardNames, clusters, zones }));
  return commands;
}

function zonesOf(profile: Profile): Readonly<Record<string, ShardName>> {
  const { zonesOfShard } = profile;
  return Object.fromEntries(
    shardsOf(profile).flatMap((shard) =>
      (zonesOfShard[shard] ?? []).map((zone) => [zone, shard] as const),
    ),
  );
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

interface CastOptions extends RunOptions {
  readonly provider: ProviderAddress;
  readonly clusters: readonly ClusterAddress[];
}

/** All processes. Who does not wait for whom starts at the same time. */
class Cast {
  readonly #options: CastOptions;
  readonly #stack: AsyncDisposableStack;
  readonly #deaths = Promise.withResolvers<never>();
  /** The first death, or the end of the run: nobody waits for anybody any more, and nobody is started. */
  readonly #over = new AbortController();
  readonly #halt: AbortSignal;
  #shards: readonly RevivedChild[] = [];
  /** Resolves when the dashboard is ready, or was given up. */
  dashboardTried: Promise<void> = Promise.resolve();

  constructor(options: CastOptions, stack: AsyncDisposableStack) {
    this.#options = options;
    this.#stack = stack;
    this.#halt = AbortSignal.any([options.stop, this.#over.signal]);
    this.#deaths.promise.catch((error: unknown) => this.#over.abort(error));
  }

  get shards(): readonly RevivedChild[] {
    return this.#shards;
  }

  /** Rejects when one ends that the demo can't do without; never resolves. */
  get died(): Promise<never> {
    return this.#deaths.promise;
  }

  /**
   * Everything but the operators, which ask for machines at once: they come when every shard has its zones.
   * A shard that finds no provider looks again ten seconds later: shards come after providers.
   */
  async start(): Promise<void> {
    const options = this.#options;
    const { etcd, profile, runtime, view } = options;
    const planes = handled(this.#together(() => [startControlPlanes(options)]));
    const providers = handled(
      this.#together(() => PROVIDERS.map((name) => startProvider(name, options))),
    );
    if (etcd !== undefined) await this.#together(() => startEtcd(etcd, options));
    await Promise.all([this.#together(() => [startCoordinator(options)]), providers]);
    this.#shards = shardsOf(profile).map(
      (shard) =>
        new RevivedChild({
          runtime,
          start: () => startShard(shard, options),
          afterMs: REVIVED_AFTER_MS,
          tell: (line) => view.line(line),
        }),
    );
    await Promise.all([planes, this.#together(() => this.#shards)]);
    // Not earlier: it would take the processor from those that everybody waits for.
    this.#startDashboard();
  }

  async startOperators(): Promise<void> {
    await this.#together(() => [startOperators(this.#options)]);
  }

  /** Nothing depends on it: an end of it is told, and everything goes on. */
  #startDashboard(): void {
    const { view, dir } = this.#options;
    const dashboard = startDashboard(this.#options);
    this.#stopsWith([dashboard]);
    const tellEnd = (): void => {
      if (this.#halt.aborted) return;
      const log = path.join(dir, 'dashboard.log');
      view.line(`the dashboard ended; everything else goes on without it (${log})`);
    };
    this.dashboardTried = dashboard.ready(this.#halt).then(() => {
      view.line(`dashboard runs as process ${dashboard.pid}`);
      dashboard.died.catch(tellEnd);
    }, tellEnd);
  }

  /** In the reverse order of their starts. */
  #stopsWith(started: readonly Running[]): void {
    this.#stack.defer(async () => {
      this.#over.abort(new BigFleetError('cancelled', 'the demo ends'));
      await Promise.all(started.map((child) => child.stop()));
    });
  }

  async #together(start: () => readonly Running[]): Promise<void> {
    const { view } = this.#options;
    this.#halt.throwIfAborted();
    const started = start();
    this.#stopsWith(started);
    for (const { died } of started) died.catch(this.#deaths.reject);
    await Promise.all(started.map((child) => child.ready(this.#halt)));
    for (const { name, pid } of started) view.line(`${name} runs as process ${pid}`);
  }
}

/** Somebody waits for it only later; until then its failure is not unhandled. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}

/** The background ends before the show only because of a stop, and then the show ends by itself. */
function never(): Promise<never> {
  return new Promise<never>(() => {});
}

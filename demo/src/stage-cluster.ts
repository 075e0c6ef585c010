// One cluster while the demo runs: its story is told, its API server and its operator are watched.

import { createRandom, type Random, type Runtime, sleep } from '@bigfleet/base';
import type { KubeClient } from '@bigfleet/kube';
import type { Logger } from '@bigfleet/telemetry';
import type { ClusterAddress } from './kube/cluster-addresses.ts';
import { connect } from './kube/connect.ts';
import { scrape } from './report/counters.ts';
import { JOINED } from './places.ts';
import type { ClusterScene } from './view/scene.ts';
import { planOf } from './clusters/plans.ts';
import { Population } from './clusters/population.ts';
import { tellStory } from './clusters/tell-story.ts';
import { WatchedCluster } from './clusters/watched-cluster.ts';

export interface StageClusterOptions {
  readonly runtime: Runtime;
  readonly seed: string;
  readonly address: ClusterAddress;
  /** Metrics of its operator. */
  readonly operatorUrl: string;
  readonly logger: Logger;
}

const CONNECTED = 'bigfleet_operator_session_connected';
const SCRAPE_EVERY_MS = 1_000;

export class StageCluster {
  readonly #options: StageClusterOptions;
  readonly #client: KubeClient;
  readonly #watched: WatchedCluster;
  #isConnected = false;

  private constructor(options: StageClusterOptions, client: KubeClient) {
    const { runtime, logger } = options;
    this.#options = options;
    this.#client = client;
    this.#watched = new WatchedCluster({ runtime, client, logger });
  }

  static async connect(options: StageClusterOptions): Promise<StageCluster> {
    const { runtime, address, logger } = options;
    const client = await connect({ runtime, kubeconfig: address.kubeconfig, name: 'demo' });
    return new StageCluster({ ...options, logger: logger.child({ cluster: address.id }) }, client);
  }

  get scene(): ClusterScene {
    const { id, shard } = this.#options.address;
    return { id, shard, isConnected: this.#isConnected, ...this.#watched.counts };
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([this.#watched.run(signal), this.#story(signal), this.#ask(signal)]);
    } finally {
      this.#client.transport.close();
    }
  }

  /** A cluster that somebody brought along has workloads of its own. */
  async #story(signal: AbortSignal): Promise<void> {
    const { runtime, seed, address, logger } = this.#options;
    if (address.id === JOINED) return;
    const population = new Population(planOf(address.id), randomOf(seed, address.id));
    await tellStory({ runtime, client: this.#client, population, logger }, signal);
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { runtime, operatorUrl } = this.#options;
    while (!signal.aborted) {
      this.#isConnected = await scrape(runtime, operatorUrl).then(
        (counters) => counters.sum(CONNECTED) > 0,
        () => false,
      );
      await sleep(runtime, SCRAPE_EVERY_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }
}

function randomOf(seed: string, cluster: string): Random {
  return createRandom(seed).stream('clusters').stream(cluster);
}

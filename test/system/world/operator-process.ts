// The production operator session on a life of its own: durable is the cluster.

import { parseClusterId } from '@bigfleet/base';
import { createOperatorMetrics, OperatorSession } from '@bigfleet/operator';
import { createRegistry } from '@bigfleet/telemetry';
import type { Cluster } from './cluster.ts';
import type { Life } from './life.ts';
import { logger, Process, type Surroundings } from './process.ts';
import { SHARD_ADDRESS } from './shard-process.ts';

const operatorMetrics = createOperatorMetrics(createRegistry());

export class OperatorProcess extends Process {
  readonly #cluster: Cluster;
  readonly #stops: AbortController[] = [];
  #session: OperatorSession | undefined;

  constructor(world: Surroundings, cluster: Cluster) {
    super(cluster.id, world);
    this.#cluster = cluster;
  }

  get isConnected(): boolean {
    return this.#session?.isConnected === true;
  }

  /** Of all lives: the platform keeps composite signals, and all they reach, until they abort. */
  release(): void {
    for (const stop of this.#stops) stop.abort(new Error('the world is over'));
  }

  protected async run(life: Life): Promise<void> {
    const clusterId = parseClusterId(this.host);
    if (!clusterId.ok) throw new Error(clusterId.error.problem);
    const { network } = this.world;
    const session = new OperatorSession({
      runtime: life.runtime,
      clusterId: clusterId.value,
      cluster: this.#cluster.port(life),
      dial: () => life.channel(network.connect({ from: this.host, to: SHARD_ADDRESS })),
      metrics: operatorMetrics,
      logger,
      settings: {
        onChangeSpacingMs: 500,
        backoffMaxMs: 4_000,
        helloTimeoutMs: 5_000,
      },
    });
    this.#session = session;
    const stop = new AbortController();
    this.#stops.push(stop);
    await session.run(stop.signal);
  }
}

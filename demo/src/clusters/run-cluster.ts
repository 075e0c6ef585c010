// One demo cluster at work: the operator's session client, and workloads that change about once a
// second. Ends with the signal, after the session has closed.

import { type ClusterId, type Random, type Runtime, sleep } from '@bigfleet/base';
import { createOperatorMetrics, OperatorSession } from '@bigfleet/operator';
import { createRegistry, type Logger } from '@bigfleet/telemetry';
import { createGrpcChannel } from '@bigfleet/wire';
import type { ShardName } from '../places.ts';
import { DemoCluster } from './demo-cluster.ts';
import type { ClusterPlan } from './plans.ts';
import { Population } from './population.ts';

/** Far below production's ten seconds: a demonstration is watched. */
const ROLLUP_INTERVAL_MS = 1_000;
const ON_CHANGE_SPACING_MS = 250;
const STEP_MS: readonly [lo: number, hi: number] = [800, 1_600];

export interface ClusterOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly plan: ClusterPlan;
  /** Where the shard listens. */
  readonly target: string;
  readonly logger: Logger;
}

export interface RunningCluster {
  readonly id: string;
  readonly shard: ShardName;
  readonly population: Population;
  readonly cluster: DemoCluster;
  readonly session: OperatorSession;
  /** Rejects only for a bug. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCluster(options: ClusterOptions): RunningCluster {
  const { runtime, random, plan, target, logger } = options;
  const nowMs = runtime.clock.monotonicMs();
  const population = new Population(plan, random.stream('population'), nowMs);
  const cluster = new DemoCluster({ runtime, random: random.stream('evictions'), population });
  const session = new OperatorSession({
    runtime,
    clusterId: plan.id as ClusterId,
    cluster,
    dial: () => createGrpcChannel({ runtime, target }),
    metrics: createOperatorMetrics(createRegistry()),
    logger: logger.child({ cluster: plan.id }),
    settings: { rollupIntervalMs: ROLLUP_INTERVAL_MS, onChangeSpacingMs: ON_CHANGE_SPACING_MS },
  });
  return {
    id: plan.id,
    shard: plan.shard,
    population,
    cluster,
    session,
    async run(signal) {
      await Promise.all([
        session.run(signal),
        liveOn(cluster, { runtime, random: random.stream('steps'), signal }),
      ]);
    },
  };
}

interface LifeOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly signal: AbortSignal;
}

async function liveOn(cluster: DemoCluster, options: LifeOptions): Promise<void> {
  const { runtime, random, signal } = options;
  const [lo, hi] = STEP_MS;
  while (!signal.aborted) {
    try {
      await sleep(runtime, lo + random.float() * (hi - lo), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      return;
    }
    cluster.live();
  }
}

// Inventory and demand of the profile local-5k: 20 clusters × 2,500 Pods in 129 rows, 5,000
// machines (scale-and-testing §12.3). Measured bare and inside a running shard.

import type { GangMix } from './gang-mix-fleet.ts';

export const LOCAL_5K: GangMix = {
  clusters: 20,
  tinyPods: 1_675,
  servicePods: 285,
  cacheGangs: 95,
  trainingGangs: 32,
  configuredPerCluster: 180,
  idle: 400,
  speculative: 1_000,
  racksPerKind: 20,
  rackBlock: 10,
};

// Roll-up, session client, bootstrap templates, reclaim, UpcomingNode, AvailableCapacity.

export type * from './rollup/capacity-request.ts';
export { DemandIndex } from './rollup/demand-index.ts';
export { readRequest, type RequestDemand } from './rollup/read-request.ts';
export { encodeRollup, type Rollup, type RollupNeed } from './rollup/rollup.ts';
export type * from './session/cluster-port.ts';
export { createOperatorMetrics, type OperatorMetrics } from './session/metrics.ts';
export { OperatorSession, type OperatorSessionOptions } from './session/operator-session.ts';
export { defaultSessionSettings, type SessionSettings } from './session/settings.ts';
export {
  type BootstrapOptions,
  bootstrapRenderer,
  type ClusterFacts,
} from './cluster/bootstrap.ts';
export { type ClusterHooks, KubeCluster, type KubeClusterOptions } from './cluster/kube-cluster.ts';
export { TokenPool, type TokenPoolOptions } from './cluster/token-pool.ts';
export type { LeaseSettings, OperatorSettings } from './process/settings.ts';
export {
  startOperator,
  type StartOperatorOptions,
} from './process/start-operator.ts';

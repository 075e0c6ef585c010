// What all sessions of one operator share. Sessions come and go; writes to the cluster, drains and
// acknowledgements go on between them.

import type { Runtime } from '@bigfleet/base';
import type { Logger, SampledMessage } from '@bigfleet/telemetry';
import type { AvailableCapacityUpdate, NodeStateUpdate } from '@bigfleet/wire';
import type { Acknowledger } from './acknowledger.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { KeyedLane } from './keyed-lane.ts';
import type { OperatorMetrics } from './metrics.ts';
import type { Reclaims } from './reclaims.ts';
import type { RollupBuilder } from './rollup-builder.ts';
import type { SessionSettings } from './settings.ts';
import type { Supervisor } from './supervisor.ts';

export interface SessionServices {
  readonly runtime: Runtime;
  readonly clusterId: string;
  readonly cluster: ClusterPort;
  readonly settings: SessionSettings;
  readonly metrics: OperatorMetrics;
  readonly logger: Logger;
  readonly supervisor: Supervisor;
  readonly dispatchFailed: SampledMessage<'frame' | 'err', 'machine' | 'id'>;
  readonly nodeStates: KeyedLane<NodeStateUpdate>;
  readonly hints: KeyedLane<AvailableCapacityUpdate>;
  readonly reclaims: Reclaims;
  readonly acknowledger: Acknowledger;
  readonly rollups: RollupBuilder;
}

// What every part of one operator works with. It lives as long as the process; sessions come and go.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { ClusterPort } from './cluster-port.ts';
import type { OperatorMetrics } from './metrics.ts';
import type { SessionSettings } from './settings.ts';
import type { Supervisor } from './supervisor.ts';

export interface OperatorContext {
  readonly runtime: Runtime;
  readonly clusterId: string;
  readonly cluster: ClusterPort;
  readonly settings: SessionSettings;
  readonly metrics: OperatorMetrics;
  readonly logger: Logger;
  readonly supervisor: Supervisor;
}

/** Of a part whose work ends before the process does. */
export interface BoundContext extends OperatorContext {
  /** Ends what runs. */
  readonly lifetime: AbortSignal;
}

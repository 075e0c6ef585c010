// Ending the demand of a cluster whose operator never returns (decision 4, shard §5.1). It is a
// confirmed empty roll-up: rail 2 does not hold it, and phase 3 then takes the machines back under
// rail 1 like after any withdrawal. While an operator is connected it is refused unless forced,
// because the next roll-up brings the demand back.

import { BigFleetError, parseClusterId } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';

/** What the shard does about it. */
export interface ForgetPort {
  boundMachineCount(cluster: string): number;
  /** The cluster has demand in the table, or had a first roll-up. */
  isKnown(cluster: string): boolean;
  /**
   * Applies the confirmed empty roll-up in the engine worker, in order with roll-ups, and drops the
   * guard's baseline. Resolves with the number of need rows that went.
   */
  forgetDemand(cluster: string): Promise<number>;
}

export interface ForgetClusterOptions {
  readonly port: ForgetPort;
  readonly logger: Logger;
  readonly hasSession: (cluster: string) => boolean;
  /** Drops what sessions remember of the cluster: digest, node names, hold-offs. */
  readonly forgetSessionState: (cluster: string) => void;
}

export interface ForgetRequest {
  readonly clusterId: string;
  readonly force: boolean;
  readonly reason: string;
  readonly by: string;
}

export interface Forgotten {
  readonly needRowCount: number;
  readonly machineCount: number;
}

export async function forgetCluster(
  options: ForgetClusterOptions,
  request: ForgetRequest,
): Promise<Forgotten> {
  const { port, logger, hasSession, forgetSessionState } = options;
  const { clusterId: cluster, force, reason, by } = request;
  if (reason.trim() === '') throw new BigFleetError('reason_missing', 'a reason is required');
  const parsed = parseClusterId(cluster);
  if (!parsed.ok) throw new BigFleetError('id_malformed', parsed.error.problem);
  const isLive = hasSession(cluster);
  if (isLive && !force) {
    throw new BigFleetError('cluster_session_live', 'cluster has a live operator session');
  }
  const machineCount = port.boundMachineCount(cluster);
  if (!isLive && machineCount === 0 && !port.isKnown(cluster)) {
    throw new BigFleetError('cluster_unknown', `no cluster ${cluster} on this shard`);
  }
  // Before: a roll-up that arrives meanwhile must not pass for an unchanged one. After: neither may
  // one whose verdict was under way.
  forgetSessionState(cluster);
  const needRowCount = await port.forgetDemand(cluster);
  forgetSessionState(cluster);
  logger.event(stableMessages.clusterForgotten, {
    cluster,
    by,
    reason,
    need_rows: needRowCount,
    machines: machineCount,
  });
  return { needRowCount, machineCount };
}

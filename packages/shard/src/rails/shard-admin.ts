// The ShardAdmin service: actuation at run time, forgetting a cluster, and clearing brakes. The gate
// admits administrators only. Every call, refused or not, leaves one line in the log and one in the audit
// log: who, from where, what, and how it ended (security §6).

import { describeThrown } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { CallContext, Handlers, ShardAdmin } from '@bigfleet/wire';
import type { AdminRecord } from '../audit/audit-lines.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { presentedIdentity } from '../session/identity.ts';
import { type Actuation, actuationState } from './actuation.ts';
import { clearBrakes, type ClearBrakesOptions } from './clear-brakes.ts';
import { forgetCluster, type ForgetClusterOptions } from './forget-cluster.ts';

export interface ShardAdminOptions {
  readonly actuation: Actuation;
  readonly forget: ForgetClusterOptions;
  readonly brakes: ClearBrakesOptions;
  readonly audit: AuditLog;
  readonly logger: Logger;
  readonly coordinatorTerm: () => bigint;
}

export function shardAdminHandlers(options: ShardAdminOptions): Handlers<typeof ShardAdmin> {
  const { actuation, forget, brakes } = options;
  return {
    setActuation: (request, call) => {
      const { paused, dryRun, reclaimCapFraction, emptyRollupGuard } = request;
      const { maxActionsPerCycle, clear, reason } = request;
      const given = {
        paused,
        dryRun,
        reclaimCapFraction,
        emptyRollupGuard,
        maxActionsPerCycle,
        clear,
        reason,
      };
      return audited(options, call, given, async (by) =>
        actuationState(await actuation.set({ ...given, by })),
      );
    },
    forgetCluster: (request, call) => {
      const { clusterId, force, reason } = request;
      return audited(options, call, { clusterId, force, reason }, async (by) => {
        const done = await forgetCluster(forget, { clusterId, force, reason, by });
        return { needRowsDropped: done.needRowCount, machinesBound: done.machineCount };
      });
    },
    clearBrakes: (request, call) => {
      const { clusterId, profileFingerprint, provider, instanceType, all, reason } = request;
      const selection = { clusterId, profileFingerprint, provider, instanceType, all };
      return audited(options, call, { ...selection, reason }, async () => ({
        cleared: clearBrakes(brakes, selection, reason),
      }));
    },
  };
}

async function audited<T>(
  options: ShardAdminOptions,
  call: CallContext,
  given: AdminRecord['arguments'],
  work: (by: string) => Promise<T>,
): Promise<T> {
  const identity = presentedIdentity(call.peer.identity);
  const record = (outcome: string): void => {
    const term = options.coordinatorTerm();
    const peer = call.peer.address;
    options.audit.admin({ rpc: call.path, identity, peer, arguments: given, outcome, term });
    options.logger.info('admin call', { rpc: call.path, identity, peer, outcome });
  };
  try {
    const result = await work(identity);
    record('ok');
    return result;
  } catch (error) {
    record(describeThrown(error));
    throw error;
  }
}

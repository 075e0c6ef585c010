// ProviderAdmin (wire-additions §5.4): the administrator's way out of Failed, with one audit line
// per call, whatever its outcome (security §6).

import { BigFleetError } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { CallContext, Handlers, ProviderAdmin } from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import type { FailedCleanup } from '../upkeep/failed-cleanup.ts';
import { refuseBadId } from './arguments.ts';
import { machineMessage } from './handlers.ts';

export interface AdminDependencies {
  readonly logger: Logger;
  readonly fleet: Fleet;
  readonly cleanup: FailedCleanup;
}

export function adminHandlers(kit: AdminDependencies): Handlers<typeof ProviderAdmin> {
  return {
    resetFailed: async ({ machineId }, call) => {
      try {
        refuseBadId(machineId);
        const { machine, cleaned } = await kit.cleanup.reset(machineId);
        audit(kit, call, machineId, 'ok');
        return { machine: machineMessage(machine), cleaned };
      } catch (error) {
        audit(kit, call, machineId, error instanceof BigFleetError ? error.code : 'internal');
        throw error;
      }
    },
  };
}

function audit(
  kit: AdminDependencies,
  call: CallContext,
  machineId: string,
  outcome: string,
): void {
  const { identity, address } = call.peer;
  kit.logger.info('audit', {
    rpc: call.path,
    identity: identity.kind === 'verified' ? identity.san : 'unauthenticated',
    peer: address,
    machine_id: machineId,
    outcome,
    revision: kit.fleet.revisions.last,
  });
}

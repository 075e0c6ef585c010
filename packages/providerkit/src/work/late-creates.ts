// A create that succeeds after its timeout has made a running, billed host that nothing tracks
// (provider-contract §10). It is logged, counted, and torn down with its own operation id where the backend
// can delete. Only while the slot is still Failed from that very create: once the slot has a new
// life, a deletion by machine id could hit the wrong host; the substrate's sweep of duplicates
// (providers A4, R3) takes it then. The record stays Failed either way.

import { describeThrown, runWithDeadline } from '@bigfleet/base';
import type { CreatedInstance } from '../backend/backend.ts';
import { detached } from '../model/machine.ts';
import type { Kit } from './kit.ts';
import type { WorkOrder } from './work-item.ts';

export async function tearDownLateCreate(
  kit: Kit,
  order: WorkOrder,
  instance: CreatedInstance,
): Promise<void> {
  const { logger, observer, cleaning } = kit;
  const fields = { machine_id: order.machineId, operation_id: order.operationId };
  const { provider, ref } = instance.host;
  logger.error('create finished late: a host runs that nothing tracks', {
    ...fields,
    host_provider: provider,
    host_ref: ref,
  });
  if (!isStillFailedBy(kit, order) || cleaning.has(order.machineId)) {
    return observer.lateCreate?.('left');
  }
  cleaning.add(order.machineId);
  try {
    await deleteHost(kit, order, instance);
    observer.lateCreate?.('torn_down');
  } catch (error) {
    logger.error('teardown of a late host failed', { ...fields, err: describeThrown(error) });
    observer.lateCreate?.('failed');
  } finally {
    cleaning.delete(order.machineId);
  }
}

function isStillFailedBy({ backend, fleet }: Kit, order: WorkOrder): boolean {
  const isSame = fleet.operation(order.machineId, 'create')?.operationId === order.operationId;
  const isFailed = fleet.get(order.machineId)?.state === 'Failed';
  return backend.deleteInstance !== undefined && isSame && isFailed;
}

async function deleteHost(kit: Kit, order: WorkOrder, instance: CreatedInstance): Promise<void> {
  const { backend, fleet, runtime, options, lifetime } = kit;
  const record = fleet.get(order.machineId);
  if (record === undefined) return;
  const machine = { ...detached(record), host: { ...instance.host } };
  const deadline = { ms: options.timeouts.delete, parent: lifetime };
  await runWithDeadline(runtime, deadline, async (signal) => {
    await backend.deleteInstance?.({ machine, operationId: order.operationId, signal });
  });
}

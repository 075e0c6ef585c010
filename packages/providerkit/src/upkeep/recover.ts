// What a restart interrupted (provider-contract §13): the worker died with its process, so nothing would
// ever finish these machines. Creating, Draining and Deleting are driven again with the same
// operation id, because every actuator is idempotent. Configuring can't be: the bootstrap blob is
// not stored. One look at the node decides between Configured and Failed; leaving it would answer
// every retry with the old operation id for ever.

import { BigFleetError, runWithDeadline } from '@bigfleet/base';
import { isReady } from '../backend/readiness.ts';
import {
  detached,
  kindInTransit,
  type MachineRecord,
  type OperationKind,
} from '../model/machine.ts';
import { configured, failed } from '../model/effects.ts';
import type { StoredOperation, StoreImage } from '../store/store.ts';
import type { Kit } from '../work/kit.ts';
import { drainInputs, type WorkInputs } from '../work/work-item.ts';
import type { Workers } from '../work/workers.ts';
import { inParallel } from '../work/background.ts';
import { describe } from './describe.ts';
import type { Reconciler } from './reconcile.ts';

const PARALLEL_PROBES = 64;

type WorkingKit = Kit & { readonly workers: Workers };

export async function recover(kit: WorkingKit): Promise<void> {
  const interrupted = [...kit.fleet.records()].filter((record) => kindInTransit(record.state));
  await inParallel(interrupted, { limit: PARALLEL_PROBES, signal: kit.lifetime }, ({ id }) =>
    kit.sections.run(id, () => recoverOne(kit, id)),
  );
}

async function recoverOne(kit: WorkingKit, id: string): Promise<void> {
  const record = kit.fleet.get(id);
  const kind = record === undefined ? undefined : kindInTransit(record.state);
  if (record === undefined || kind === undefined) return;
  const operation = kit.fleet.operation(id, kind);
  kit.observer.transition?.(kind, 'interrupted', 0);
  kit.logger.warn('transition was interrupted by a restart', { machine_id: id, kind });
  if (kind === 'configure' && (await isNodeReady(kit, record, operation))) {
    await kit.ledger.keep(configured(record));
    return;
  }
  if (kind === 'configure' || operation === undefined || kit.backend.redrive === false) {
    await kit.ledger.keep(failed(record, `${kind}: interrupted by a provider restart`));
    return;
  }
  const inputs = redriveInputs(kind, operation);
  kit.workers.start({ machineId: id, operationId: operation.operationId, inputs });
}

function redriveInputs(
  kind: Exclude<OperationKind, 'configure'>,
  operation: StoredOperation,
): WorkInputs {
  return kind === 'drain' ? drainInputs(operation.gracePeriodSeconds ?? 0n) : { kind };
}

/** One bounded look; any other answer than Ready is no. */
async function isNodeReady(
  kit: Kit,
  record: MachineRecord,
  operation: StoredOperation | undefined,
): Promise<boolean> {
  const { runtime, options, gate, lifetime } = kit;
  const call = {
    machine: detached(record),
    clusterId: record.cluster,
    operationId: operation?.operationId ?? '',
  };
  const deadline = { ms: options.readinessProbeTimeoutMs, parent: lifetime };
  try {
    return await runWithDeadline(runtime, deadline, (signal) => isReady(gate, { ...call, signal }));
  } catch (error) {
    kit.logger.info('node is not ready after a restart', {
      machine_id: record.id,
      err: error instanceof Error ? error : String(error),
    });
    return false;
  }
}

const RECORDS_PER_COMMIT = 10_000;

export function isEmptyStore(image: StoreImage): boolean {
  const { machines, fences, operations, revision } = image;
  return machines.length === 0 && fences.length === 0 && operations.length === 0 && revision === 0;
}

/**
 * The first start: the store is empty, so the substrate's description becomes the inventory. Strict,
 * unlike a reconcile: an invalid or duplicate machine stops the start, because an author or
 * operator is looking at it right now. In batches: one crash in between leaves a store that the
 * next start completes by its reconcile.
 */
export async function seed(kit: Kit, reconciler: Reconciler): Promise<void> {
  const { instances, invalid } = await describe(kit);
  const [first] = invalid;
  if (first !== undefined) {
    const more = invalid.length === 1 ? '' : ` (and ${invalid.length - 1} more)`;
    const message = `machine ${JSON.stringify(first.id)}: ${first.problem}${more}`;
    throw new BigFleetError('instance_invalid', message);
  }
  const all = [...instances.values()];
  for (let at = 0; at < all.length; at += RECORDS_PER_COMMIT) {
    const batch = all.slice(at, at + RECORDS_PER_COMMIT);
    await kit.ledger.writeAll(batch.map((instance) => ({ record: reconciler.seeded(instance) })));
  }
}

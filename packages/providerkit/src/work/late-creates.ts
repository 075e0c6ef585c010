// A create that succeeds after its timeout has made a running, billed host that nothing tracks
// (provider-contract §10). It is logged, counted, and torn down with its own operation id where the backend
// can delete. Only while the slot is still Failed from that very create: once the slot has a new
// life, a deletion by machine id could hit the wrong host; the substrate's sweep of duplicates
// (providers A4, R3) takes it then. The record stays Failed either way.

import { describeThrown, type Runtime, runWithDeadline } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { Backend, CreatedInstance } from '../backend/backend.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { detached } from '../model/machine.ts';
import type { KitObserver } from '../observer.ts';
import type { KitOptions } from '../options.ts';
import type { WorkOrder } from './work-item.ts';

export interface LateCreatesDependencies {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly observer: KitObserver;
  readonly options: KitOptions;
  readonly backend: Backend;
  readonly fleet: Fleet;
  readonly cleaning: CleaningSet;
  /** Ends with the process. */
  readonly lifetime: AbortSignal;
}

export class LateCreates {
  readonly #deps: LateCreatesDependencies;

  constructor(dependencies: LateCreatesDependencies) {
    this.#deps = dependencies;
  }

  async tearDown(order: WorkOrder, instance: CreatedInstance): Promise<void> {
    const { logger, observer, cleaning } = this.#deps;
    const fields = { machine_id: order.machineId, operation_id: order.operationId };
    const { provider, ref } = instance.host;
    logger.error('create finished late: a host runs that nothing tracks', {
      ...fields,
      host_provider: provider,
      host_ref: ref,
    });
    if (!this.#isStillFailedBy(order) || !cleaning.enter(order.machineId)) {
      return observer.lateCreate?.('left');
    }
    try {
      await this.#delete(order, instance);
      observer.lateCreate?.('torn_down');
    } catch (error) {
      logger.error('teardown of a late host failed', { ...fields, err: describeThrown(error) });
      observer.lateCreate?.('failed');
    } finally {
      cleaning.leave(order.machineId);
    }
  }

  #isStillFailedBy(order: WorkOrder): boolean {
    const { backend, fleet } = this.#deps;
    const isSame = fleet.operation(order.machineId, 'create')?.operationId === order.operationId;
    const isFailed = fleet.get(order.machineId)?.state === 'Failed';
    return backend.deleteInstance !== undefined && isSame && isFailed;
  }

  async #delete(order: WorkOrder, instance: CreatedInstance): Promise<void> {
    const { backend, fleet, runtime, options, lifetime } = this.#deps;
    const record = fleet.get(order.machineId);
    if (record === undefined) return;
    const machine = { ...detached(record), host: { ...instance.host } };
    const deadline = { ms: options.timeouts.delete, parent: lifetime };
    await runWithDeadline(runtime, deadline, async (signal) => {
      await backend.deleteInstance?.({ machine, operationId: order.operationId, signal });
    });
  }
}

/**
 * Which machines have a teardown or wipe under way. One at a time: a teardown that outlives the
 * cleanup of its slot would hit the host of the slot's next life.
 */
export class CleaningSet {
  readonly #machineIds = new Set<string>();

  /** False when somebody else is at it. */
  enter(machineId: string): boolean {
    if (this.#machineIds.has(machineId)) return false;
    this.#machineIds.add(machineId);
    return true;
  }

  leave(machineId: string): void {
    this.#machineIds.delete(machineId);
  }
}

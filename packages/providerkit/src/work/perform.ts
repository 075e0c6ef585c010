// The backend's part of a transition, and what its result does to the record. A Configure passes the
// readiness gate between the join and the word Configured (../backend/readiness.ts). Join and gate
// share one signal and so one timeout.

import type { Backend, CreatedInstance } from '../backend/backend.ts';
import { createdProblem } from '../backend/instance-rules.ts';
import { ProviderError } from '../backend/provider-error.ts';
import { confirmReady, type ReadinessChecker } from '../backend/readiness.ts';
import { configured, created, deleted, drained } from '../model/effects.ts';
import type { MachineRecord, OperationKind } from '../model/machine.ts';
import type { WorkOrder } from './work-item.ts';

/** What the substrate did; `created` carries what nobody else knows yet. */
export type Performed =
  | { readonly kind: 'create'; readonly instance: CreatedInstance }
  | { readonly kind: Exclude<OperationKind, 'create'> };

export interface PerformOptions {
  readonly backend: Backend;
  readonly gate: ReadinessChecker;
  readonly order: WorkOrder;
  /** In its transitional state. */
  readonly machine: MachineRecord;
  readonly signal: AbortSignal;
  /** The join succeeded and the wait for Ready begins. */
  readonly onJoined: () => void;
}

export async function perform(options: PerformOptions): Promise<Performed> {
  const { backend, machine, signal } = options;
  const { operationId, inputs } = options.order;
  switch (inputs.kind) {
    case 'create':
      return { kind: 'create', instance: await create(options) };
    case 'configure': {
      const { clusterId, bootstrapBlob } = inputs;
      const call = { machine, clusterId, operationId, signal };
      await backend.configureInstance({ ...call, bootstrapBlob });
      // A join that ignored its cancellation: nobody waits for this node any more.
      signal.throwIfAborted();
      options.onJoined();
      await confirmReady(options.gate, call);
      return { kind: 'configure' };
    }
    case 'drain': {
      const { gracePeriodSeconds } = inputs;
      await backend.drainInstance({ machine, gracePeriodSeconds, operationId, signal });
      return { kind: 'drain' };
    }
    case 'delete':
      await deleteInstance(options);
      return { kind: 'delete' };
  }
}

async function create(options: PerformOptions): Promise<CreatedInstance> {
  const { backend, machine, signal, order } = options;
  const instance = await backend.createInstance({
    machine,
    operationId: order.operationId,
    signal,
  });
  const message = createdProblem(instance);
  if (message === undefined) return instance;
  throw new ProviderError({ class: 'config', op: 'create', vendorCode: 'bad_result', message });
}

/** Only a Delete that an earlier process accepted can meet a backend without the capability. */
async function deleteInstance(options: PerformOptions): Promise<void> {
  const { backend, machine, signal, order } = options;
  if (backend.deleteInstance === undefined) {
    const message = 'the backend no longer deletes';
    throw new ProviderError({ class: 'config', op: 'delete', vendorCode: 'unsupported', message });
  }
  await backend.deleteInstance({ machine, operationId: order.operationId, signal });
}

export function completed(record: MachineRecord, performed: Performed): MachineRecord {
  switch (performed.kind) {
    case 'create':
      return created(record, performed.instance);
    case 'configure':
      return configured(record);
    case 'drain':
      return drained(record);
    case 'delete':
      return deleted(record);
  }
}

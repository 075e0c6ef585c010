// What the substrate still holds of a Failed machine, and how it goes away (provider-contract §10, providers
// G3): deletable capacity is deleted, a fixed host is wiped. Looks at the substrate's truth first,
// because a create that failed here may have succeeded there.

import { runWithDeadline } from '@bigfleet/base';
import { operationId } from '../model/operation-id.ts';
import { detached, type HostRef, type MachineRecord } from '../model/machine.ts';
import type { Kit } from '../work/kit.ts';
import type { Described } from './describe.ts';

export interface CleanedUp {
  /** The wiped host on which the slot goes on; absent when the slot is empty now. */
  readonly host: HostRef | undefined;
  /** Whether there was anything to do. */
  readonly cleaned: boolean;
}

export async function cleanUp(
  kit: Kit,
  record: MachineRecord,
  described: Described,
): Promise<CleanedUp> {
  const { backend, options } = kit;
  const host = hostOf(record, described);
  const { host: _host, ...slot } = detached(record);
  const machine: MachineRecord = host === undefined ? slot : { ...slot, host };
  const isDeletable = backend.deleteInstance !== undefined;
  if (backend.cleanupFailed !== undefined) {
    await within(kit, options.timeouts.delete, (signal) =>
      backend.cleanupFailed?.({ machine, signal }),
    );
  } else if (host !== undefined) {
    await deleteOrWipe(kit, machine);
  }
  return { host: isDeletable ? undefined : host, cleaned: host !== undefined };
}

/** What the describe says about this machine; the record's own word only where it says nothing. */
function hostOf(record: MachineRecord, described: Described): HostRef | undefined {
  const instance = described.instances.get(record.id);
  if (instance?.host !== undefined) return { ...instance.host };
  const { host } = record;
  if (host === undefined) return undefined;
  if (described.hostRefs.has(host.ref)) return host;
  const isSpokenFor = instance !== undefined;
  return isSpokenFor ? undefined : host;
}

async function deleteOrWipe(kit: Kit, machine: MachineRecord): Promise<void> {
  const { backend, options, runtime } = kit;
  const id = operationId(runtime, options.operationIdPrefix);
  if (backend.deleteInstance !== undefined) {
    return await within(kit, options.timeouts.delete, (signal) =>
      backend.deleteInstance?.({ machine, operationId: id, signal }),
    );
  }
  await within(kit, options.timeouts.drain, (signal) =>
    backend.drainInstance({ machine, gracePeriodSeconds: 0, operationId: id, signal }),
  );
}

function within(
  kit: Kit,
  ms: number,
  work: (signal: AbortSignal) => Promise<void> | undefined,
): Promise<void> {
  const deadline = { ms, parent: kit.lifetime };
  return runWithDeadline(kit.runtime, deadline, async (signal) => await work(signal));
}

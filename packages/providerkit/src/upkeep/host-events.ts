// What a backend reports about one host as it happens: it died, or it soon will. A termination
// notice of two minutes is over before a reconcile of two minutes sees it, so a notice changes its
// one record at once. Events of hosts that are not ours are ignored: queues are shared by accounts.

import { failed } from '../model/effects.ts';
import { type MachineStateName, publishedProbability } from '../model/machine.ts';
import type {
  HostLossOutcome,
  InterruptionEvent,
  InterruptionNotice,
  InterruptionOutcome,
} from '../provider.ts';
import { hostLostText } from '../work/ending.ts';
import type { Kit } from '../work/kit.ts';
import type { Workers } from '../work/workers.ts';

const observed: Readonly<Record<InterruptionNotice, number>> = {
  termination: 0.99,
  rebalance: 0.5,
  past_preemption: 0.9,
  unspecified: 1,
};

const losable: ReadonlySet<MachineStateName> = new Set<MachineStateName>(['Idle', 'Configured']);
/** A drain or join on a dead host only waits for its timeout. A Delete wanted it gone. */
const losableInTransit: ReadonlySet<MachineStateName> = new Set<MachineStateName>([
  'Configuring',
  'Draining',
]);

export async function reportHostLost(
  kit: Kit & { readonly workers: Workers },
  machineId: string,
  reason: string,
): Promise<HostLossOutcome> {
  const stable = await failStable(kit, machineId, reason);
  if (stable !== 'in_transit') return stable;
  await kit.workers.loseHost(machineId, reason);
  if (kit.fleet.get(machineId)?.state === 'Failed') return told(kit, machineId, reason);
  // The transition ended well just before it could be stopped: its result has no host either.
  const ended = await failStable(kit, machineId, reason);
  return ended === 'in_transit' ? 'ignored' : ended;
}

async function failStable(
  kit: Kit,
  machineId: string,
  reason: string,
): Promise<HostLossOutcome | 'in_transit'> {
  const { fleet, ledger, sections } = kit;
  return await sections.run(machineId, async () => {
    const record = fleet.get(machineId);
    if (record === undefined || record.host === undefined) return 'ignored';
    if (losableInTransit.has(record.state)) return 'in_transit';
    if (!losable.has(record.state)) return 'ignored';
    await ledger.keep(failed(record, hostLostText(reason)));
    return told(kit, machineId, reason);
  });
}

function told(kit: Kit, machineId: string, reason: string): 'failed' {
  kit.observer.hostLost?.();
  kit.logger.warn('host lost', { machine_id: machineId, reason });
  return 'failed';
}

export async function reportInterruption(
  kit: Kit,
  event: InterruptionEvent,
): Promise<InterruptionOutcome> {
  const { fleet, ledger, sections } = kit;
  const id = fleet.machineOnHost(event.hostRef)?.id;
  if (id === undefined) return 'foreign';
  return await sections.run(id, async () => {
    const record = fleet.get(id);
    if (record?.host?.ref !== event.hostRef) return 'foreign';
    const observedProbability = observed[event.notice];
    if (publishedProbability(record) >= observedProbability) return 'unchanged';
    await ledger.write({ record: { ...record, observedProbability } });
    return 'published';
  });
}

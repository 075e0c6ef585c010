// B805, B807: the host's identity through a life, and its end.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { ensure } from '../../harness/expect.ts';
import { listed } from '../../harness/inventory.ts';
import { ensureUnbound } from '../../harness/metadata.ts';
import { needsDelete } from '../../harness/probe.ts';
import { expectState } from '../../harness/reach.ts';
import {
  configureTo,
  deleteToSpeculative,
  drainToIdle,
  onIdle,
  standardCluster,
  walkToConfigured,
} from '../../harness/walk.ts';

async function stableProvider(context: CheckContext, machineId: string): Promise<void> {
  const provider = await providerAt(context, machineId, 'IDLE');
  ensure(provider !== '', () => `${machineId} at IDLE: host.provider is empty`);
  await configureTo(context, machineId, { clusterId: standardCluster });
  const atConfigured = await providerAt(context, machineId, 'CONFIGURED');
  await drainToIdle(context, machineId, 0n);
  const atIdleAgain = await providerAt(context, machineId, 'IDLE');
  ensure(
    atConfigured === provider && atIdleAgain === provider,
    () =>
      `${machineId}: host.provider changed within one host's life: ${provider} at IDLE, ` +
      `${atConfigured} at CONFIGURED, ${atIdleAgain} at IDLE again`,
  );
}

/** As Get says, which must be what List says. */
async function providerAt(
  context: CheckContext,
  machineId: string,
  state: 'IDLE' | 'CONFIGURED',
): Promise<string> {
  const { host } = await expectState(context, machineId, state);
  const { machines } = await listed(context, { states: [state] });
  const record = machines.find(({ id }) => id === machineId);
  ensure(
    record?.host?.provider === host?.provider,
    () =>
      `${machineId} at ${state}: host.provider is ${host?.provider} on Get and ` +
      `${record?.host?.provider} on List`,
  );
  return host?.provider ?? '';
}

async function deleteClears(context: CheckContext): Promise<void> {
  needsDelete(context);
  const metadata = new Map([['clear/key', 'value']]);
  const machineId = await walkToConfigured(context, { clusterId: standardCluster, metadata });
  const { machine: idle } = await drainToIdle(context, machineId, 0n);
  ensure(idle.host !== undefined, () => `${machineId} at IDLE after Drain: has no host`);
  await deleteToSpeculative(context, machineId);
  const machine = await expectState(context, machineId, 'SPECULATIVE');
  ensure(machine.host === undefined, () => `${machineId} after Delete: still has a host`);
  ensureUnbound(machine, 'after Delete');
}

export const hostChecks: readonly Check[] = [
  defineCheck('B805', 'The shape of a machine', onIdle(stableProvider)),
  defineCheck('B807', 'The shape of a machine', deleteClears),
];

// B801–B807: the shape of every record in the inventory, and of machines that this check itself
// brought to each state of service, so that a fresh provider is not judged by empty slots alone; and
// the host's identity through a life, and its end.

import {
  type Check,
  type CheckContext,
  CheckFailed,
  SkipCheck,
  defineCheck,
} from '../../harness/check.ts';
import { fullList, listed } from '../../harness/inventory.ts';
import { type MachineView, isStable } from '../../harness/machine.ts';
import { expectState, read } from '../../harness/reach.ts';
import {
  configureTo,
  deleteToSpeculative,
  drainToIdle,
  onIdle,
  release,
  standardCluster,
  walkToConfigured,
  walkToIdle,
} from '../../harness/walk.ts';
import {
  costFinding,
  densityFinding,
  hostAndClusterFinding,
  identityFinding,
  placementFinding,
} from './records.ts';
import { ensure } from '../../harness/expect.ts';
import { ensureUnbound } from '../../harness/metadata.ts';
import { needsDelete } from '../../harness/probe.ts';

type Judge = (machine: MachineView) => string | undefined;

async function identity(context: CheckContext): Promise<void> {
  judge(await inventory(context), identityFinding);
}

async function cost(context: CheckContext): Promise<void> {
  judge(await inventory(context), costFinding);
}

async function hostAndCluster(context: CheckContext): Promise<void> {
  await sweepAndWalk(context, hostAndClusterFinding);
}

async function placement(context: CheckContext): Promise<void> {
  await sweepAndWalk(context, (machine) =>
    machine.host !== undefined && isStable(machine.state) ? placementFinding(machine) : undefined,
  );
}

async function density(context: CheckContext): Promise<void> {
  const machines = await inventory(context);
  const judged = machines.filter(
    ({ resources, allocatable }) => resources !== undefined && allocatable !== undefined,
  );
  if (judged.length === 0) {
    throw new SkipCheck('capability-absent', 'no machine carries both resources and allocatable');
  }
  judge(judged, densityFinding);
}

/** The whole inventory, then one machine at IDLE, CONFIGURED and IDLE again, by Get and List. */
async function sweepAndWalk(context: CheckContext, finding: Judge): Promise<void> {
  judge(await inventory(context), finding);
  const machineId = await walkToIdle(context);
  const judgeHere = async (): Promise<void> => {
    judge([await read(context, machineId)], finding);
    judge(await inventory(context), finding);
  };
  await judgeHere();
  await configureTo(context, machineId, { clusterId: standardCluster });
  await judgeHere();
  await drainToIdle(context, machineId, 0n);
  await judgeHere();
  await release(context, machineId);
}

async function inventory(context: CheckContext): Promise<readonly MachineView[]> {
  const { machines } = await fullList(context);
  if (machines.length > 0) return machines;
  throw new SkipCheck('precondition-unmet', 'the inventory is empty: seed machines');
}

function judge(machines: readonly MachineView[], finding: Judge): void {
  for (const machine of machines) {
    const found = finding(machine);
    if (found !== undefined) throw new CheckFailed(found);
  }
}

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

export const shapeChecks: readonly Check[] = [
  defineCheck('B801', 'The shape of a machine', identity),
  defineCheck('B802', 'The shape of a machine', cost),
  defineCheck('B803', 'The shape of a machine', hostAndCluster),
  defineCheck('B804', 'The shape of a machine', onIdle(density)),
  defineCheck('B806', 'The shape of a machine', placement),
  defineCheck('B805', 'The shape of a machine', onIdle(stableProvider)),
  defineCheck('B807', 'The shape of a machine', deleteClears),
];

// B801–B804, B806: the shape of every record in the inventory, and of machines that this check
// itself brought to each state of service, so that a fresh provider is not judged by empty slots
// alone.

import { type Check, CheckFailed, SkipCheck } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { fullList } from '../../harness/inventory.ts';
import { isStable, type MachineView } from '../../harness/machine.ts';
import { read } from '../../harness/reach.ts';
import {
  configureTo,
  drainToIdle,
  onIdle,
  release,
  standardCluster,
  walkToIdle,
} from '../../harness/walk.ts';
import {
  costFinding,
  densityFinding,
  hostAndClusterFinding,
  identityFinding,
  placementFinding,
} from './records.ts';

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

export const sweepChecks: readonly Check[] = [
  defineCheck('B801', 'The shape of a machine', identity),
  defineCheck('B802', 'The shape of a machine', cost),
  defineCheck('B803', 'The shape of a machine', hostAndCluster),
  defineCheck('B804', 'The shape of a machine', onIdle(density)),
  defineCheck('B806', 'The shape of a machine', placement),
];

// Walks with the baseline's own waits.

import type { CheckContext } from '../harness/context.ts';
import type { TextMap } from '../harness/machine.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { configureTo, createToIdle } from '../harness/walk.ts';
import { baselineCluster, STEP } from './check.ts';

export async function idleMachine(context: CheckContext): Promise<string> {
  const machineId = await pickSpeculative(context);
  await createToIdle(context, machineId, STEP);
  return machineId;
}

export async function configuredMachine(
  context: CheckContext,
  metadata?: TextMap,
): Promise<string> {
  const machineId = await idleMachine(context);
  await configureTo(context, machineId, { clusterId: baselineCluster, metadata }, STEP);
  return machineId;
}

// A check of the baseline: the contract's own acceptance tests (conformance §3). They have names,
// no ids: the catalogue deepens them and never forks them. Waits are those of the table there:
// 10 s for Create, Configure and Delete, 30 s for Drain.

import type { CheckContext } from '../harness/check.ts';
import type { TextMap } from '../harness/machine.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { configureTo, createToIdle } from '../harness/walk.ts';

export interface BaselineCheck {
  readonly name: string;
  readonly run: (context: CheckContext) => Promise<void>;
}

export const STEP: { readonly withinMs: number } = { withinMs: 10_000 };
export const DRAIN: { readonly withinMs: number } = { withinMs: 30_000 };
export const DRAIN_GRACE_SECONDS = 5n;

export const baselineCluster = 'conformance-cluster';

/** Walks with the baseline's own waits. */
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

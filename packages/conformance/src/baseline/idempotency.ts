// A retry gets the operation of the first call.

import type { CheckContext } from '../harness/context.ts';
import type { Ack, Answer } from '../harness/endpoint.ts';
import { acknowledged, ensure } from '../harness/expect.ts';
import type { State } from '../harness/machine.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { needsDelete } from '../harness/probe.ts';
import { mustReach } from '../harness/reach.ts';
import { release, standardBlob } from '../harness/walk.ts';
import {
  type BaselineCheck,
  baselineCluster,
  configuredMachine,
  DRAIN,
  DRAIN_GRACE_SECONDS,
  idleMachine,
  STEP,
} from './check.ts';

export const idempotencyChecks: readonly BaselineCheck[] = [
  { name: 'CreateIdempotent', run: createIdempotent },
  { name: 'ConfigureIdempotent', run: configureIdempotent },
  { name: 'DrainIdempotent', run: drainIdempotent },
  { name: 'DeleteIdempotent', run: deleteIdempotent },
];

async function createIdempotent(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  await sameOperation(`Create ${machineId}`, () => context.endpoint.create({ machineId }));
  await settle(context, machineId, 'IDLE', STEP.withinMs);
}

async function configureIdempotent(context: CheckContext): Promise<void> {
  const machineId = await idleMachine(context);
  const call = { machineId, clusterId: baselineCluster, blob: standardBlob };
  await sameOperation(`Configure ${machineId}`, () => context.endpoint.configure(call));
  await settle(context, machineId, 'CONFIGURED', STEP.withinMs);
}

async function drainIdempotent(context: CheckContext): Promise<void> {
  const machineId = await configuredMachine(context);
  const call = { machineId, graceSeconds: DRAIN_GRACE_SECONDS };
  await sameOperation(`Drain ${machineId}`, () => context.endpoint.drain(call));
  await settle(context, machineId, 'IDLE', DRAIN.withinMs);
}

async function deleteIdempotent(context: CheckContext): Promise<void> {
  needsDelete(context);
  const machineId = await idleMachine(context);
  await sameOperation(`Delete ${machineId}`, () => context.endpoint.delete({ machineId }));
  await mustReach(context, machineId, 'SPECULATIVE', STEP.withinMs);
}

async function sameOperation(what: string, call: () => Promise<Answer<Ack>>): Promise<void> {
  const first = acknowledged(await call(), what);
  const second = acknowledged(await call(), `${what} again`);
  ensure(
    first.operationId === second.operationId,
    `${what}: a retry got operation_id ${JSON.stringify(second.operationId)}, ` +
      `the first call ${JSON.stringify(first.operationId)}`,
  );
}

async function settle(
  context: CheckContext,
  machineId: string,
  state: State,
  withinMs: number,
): Promise<void> {
  await mustReach(context, machineId, state, withinMs);
  await release(context, machineId);
}

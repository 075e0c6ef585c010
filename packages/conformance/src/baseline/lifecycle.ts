// The lifecycle and what may be seen of it while it happens; a retry gets the operation of the first
// call; calls out of position are refused, never with the code that is reserved for fencing.

import { type CheckContext, CheckFailed } from '../harness/check.ts';
import { acknowledged, ensure, isCode, rejected } from '../harness/expect.ts';
import type { State } from '../harness/machine.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { expectState, mustReach, told, waitFor } from '../harness/reach.ts';
import { poll, scaled } from '../harness/wait.ts';
import { configureTo, createToIdle, drainToIdle, release, standardBlob } from '../harness/walk.ts';
import {
  type BaselineCheck,
  DRAIN,
  DRAIN_GRACE_SECONDS,
  STEP,
  baselineCluster,
  configuredMachine,
  idleMachine,
} from './check.ts';
import type { Ack, Answer } from '../harness/endpoint.ts';
import { needsDelete } from '../harness/probe.ts';

const OBSERVE_MS = 1_000;
const OBSERVE_EVERY_MS = 5;
const GRACE_ZERO_MS = 10_000;
const seenDuringCreate: readonly State[] = ['SPECULATIVE', 'CREATING', 'IDLE'];

export const lifecycleChecks: readonly BaselineCheck[] = [
  { name: 'FullLifecycle', run: fullLifecycle },
  { name: 'TransitionalStateObservability', run: transitionalStateObservability },
  { name: 'DrainGraceTimeout', run: drainGraceTimeout },
];

async function fullLifecycle(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  await createToIdle(context, machineId, STEP);
  await configureTo(context, machineId, { clusterId: baselineCluster }, STEP);
  await drainToIdle(context, machineId, DRAIN_GRACE_SECONDS, DRAIN);
  const answer = await context.endpoint.delete({ machineId });
  if (isCode(answer, 'UNIMPLEMENTED')) return;
  acknowledged(answer, `Delete ${machineId}`);
  await mustReach(context, machineId, 'SPECULATIVE', STEP.withinMs);
}

async function transitionalStateObservability(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  acknowledged(await context.endpoint.create({ machineId }), `Create ${machineId}`);
  const forMs = scaled(context, OBSERVE_MS);
  const strange = await poll(context, { forMs, everyMs: OBSERVE_EVERY_MS }, async () => {
    const answer = await context.endpoint.get(machineId);
    const isStrange = answer.ok && !seenDuringCreate.includes(answer.value.state);
    return isStrange ? answer.value : undefined;
  });
  ensure(
    strange === undefined,
    () =>
      `${machineId}: during Create expected ${seenDuringCreate.join(', ')}, is ${told(strange)}`,
  );
  await mustReach(context, machineId, 'IDLE', STEP.withinMs);
  await release(context, machineId);
}

/** Grace 0 may fail the machine, with a reason; it may not leave it bound or draining. */
async function drainGraceTimeout(context: CheckContext): Promise<void> {
  const machineId = await configuredMachine(context);
  const answer = await context.endpoint.drain({ machineId, graceSeconds: 0n });
  acknowledged(answer, `Drain ${machineId}`);
  let hasLeft = false;
  const { seen, last } = await waitFor(context, machineId, {
    withinMs: scaled(context, GRACE_ZERO_MS),
    until: ({ state }) => {
      hasLeft ||= state !== 'CONFIGURED';
      return state === 'IDLE' || state === 'FAILED' || (hasLeft && state === 'CONFIGURED');
    },
  });
  if (seen === undefined || seen.state === 'CONFIGURED') {
    throw new CheckFailed(
      `${machineId}: after Drain with grace 0 expected IDLE, or FAILED with last_error, ` +
        `within ${GRACE_ZERO_MS} ms, is ${told(seen ?? last)}`,
    );
  }
  ensure(
    seen.state === 'IDLE' || seen.lastError !== '',
    `${machineId}: FAILED after Drain without last_error`,
  );
  await release(context, machineId);
}

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

export const positionChecks: readonly BaselineCheck[] = [
  { name: 'DrainOnSpeculative', run: drainOnSpeculative },
  { name: 'DeleteOnConfigured', run: deleteOnConfigured },
];

async function drainOnSpeculative(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  const answer = await context.endpoint.drain({ machineId, graceSeconds: DRAIN_GRACE_SECONDS });
  rejected(answer, `Drain on SPECULATIVE ${machineId}`);
}

async function deleteOnConfigured(context: CheckContext): Promise<void> {
  const machineId = await configuredMachine(context);
  rejected(await context.endpoint.delete({ machineId }), `Delete on CONFIGURED ${machineId}`);
  await expectState(context, machineId, 'CONFIGURED');
  await release(context, machineId);
}

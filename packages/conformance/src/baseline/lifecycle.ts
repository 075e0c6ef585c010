// The lifecycle and what may be seen of it while it happens.

import { CheckFailed } from '../harness/check.ts';
import type { CheckContext } from '../harness/context.ts';
import { acknowledged, ensure, isCode } from '../harness/expect.ts';
import type { State } from '../harness/machine.ts';
import { pickSpeculative } from '../harness/pick.ts';
import { mustReach, told, waitFor } from '../harness/reach.ts';
import { poll, scaled } from '../harness/wait.ts';
import { configureTo, createToIdle, drainToIdle, release } from '../harness/walk.ts';
import {
  type BaselineCheck,
  baselineCluster,
  configuredMachine,
  DRAIN,
  DRAIN_GRACE_SECONDS,
  STEP,
} from './check.ts';

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

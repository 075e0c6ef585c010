// B701, B702, B706: work that fails ends FAILED with the reason, and is not tried again in place.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { pickCreateFault } from '../../harness/pick.ts';
import { mustReach, neverReaches, told, waitFor } from '../../harness/reach.ts';
import { scaled } from '../../harness/wait.ts';
import { configureWithFault, mustFail, STABLE_WINDOW_MS } from './failed.ts';

const MARGIN_MS = 5_000;

async function configureError(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-error');
  await mustFail(context, machineId, MARGIN_MS);
  await neverReaches(context, machineId, ['CONFIGURING', 'CONFIGURED', 'IDLE'], STABLE_WINDOW_MS);
}

async function createError(context: CheckContext): Promise<void> {
  const machineId = await pickCreateFault(context);
  const answer = await context.endpoint.create({ machineId });
  acknowledged(answer, `Create ${machineId}, whose creation fails in the background`);
  await mustFail(context, machineId, MARGIN_MS);
  await neverReaches(context, machineId, ['CREATING', 'IDLE', 'SPECULATIVE'], STABLE_WINDOW_MS);
}

async function failingDrain(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-drain-error');
  await mustReach(context, machineId, 'CONFIGURED');
  const answer = await context.endpoint.drain({ machineId, graceSeconds: 0n });
  acknowledged(answer, `Drain ${machineId}, which fails in the background`);
  const { seen, last } = await waitFor(context, machineId, {
    withinMs: context.faultTimeoutMs + scaled(context, MARGIN_MS),
    until: ({ state }) => state === 'FAILED' || state === 'IDLE',
  });
  ensure(
    seen !== undefined,
    () => `${machineId} after a failing Drain: expected FAILED or IDLE, is ${told(last)}`,
  );
  ensure(
    seen.state === 'IDLE' || seen.lastError !== '',
    () => `${machineId} after a failing Drain: FAILED without last_error`,
  );
  await neverReaches(context, machineId, ['DRAINING', 'CONFIGURED'], STABLE_WINDOW_MS);
}

export const errorChecks: readonly Check[] = [
  defineCheck('B701', 'Failure', configureError),
  defineCheck('B702', 'Failure', createError),
  defineCheck('B706', 'Failure', failingDrain),
];

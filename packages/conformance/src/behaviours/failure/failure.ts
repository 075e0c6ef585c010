// B701–B708: work that fails, or does not end in time, ends FAILED with the reason; FAILED is not
// tried again, is terminal for every RPC and stays readable. The fault lane's triggers work over the
// wire alone (conformance §4.1), so any endpoint can offer them. The timeout is the provider's own
// (T), so only the margins are scaled.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { acknowledged, ensure, rejected } from '../../harness/expect.ts';
import type { MachineView } from '../../harness/machine.ts';
import { mustReach, neverReaches, read, staysIn, told, waitFor } from '../../harness/reach.ts';
import { poll, scaled } from '../../harness/wait.ts';
import { standardBlob, walkToIdle } from '../../harness/walk.ts';
import { pickCreateFault } from '../../harness/pick.ts';
import { sleep } from '@bigfleet/base';
import { distinctInOrder } from '../../harness/trace.ts';
import { fencedCall, mutations } from '../../harness/fencing.ts';
import { listedRecord } from '../../harness/inventory.ts';

type ConfigureFault =
  | 'fault-error'
  | 'fault-timeout'
  | 'fault-slow-ok'
  | 'fault-drain-error'
  | 'fault-readiness-block';

const STABLE_WINDOW_MS = 300;

/** The fault is in the background work: the call itself is accepted at once. */
export async function configureWithFault(
  context: CheckContext,
  fault: ConfigureFault,
): Promise<string> {
  const machineId = await walkToIdle(context);
  const call = { machineId, clusterId: fault, blob: standardBlob };
  acknowledged(await context.endpoint.configure(call), `Configure ${machineId} with ${fault}`);
  return machineId;
}

/** FAILED with last_error within the transition timeout and some; `marginMs` is scaled. */
async function mustFail(
  context: CheckContext,
  machineId: string,
  marginMs: number,
): Promise<MachineView> {
  const withinMs = context.faultTimeoutMs + scaled(context, marginMs);
  const { seen, last } = await waitFor(context, machineId, {
    withinMs,
    until: ({ state }) => state === 'FAILED',
  });
  ensure(
    seen !== undefined,
    () => `${machineId}: expected FAILED within ${withinMs} ms, is ${told(last)}`,
  );
  ensure(seen.lastError !== '', () => `${machineId}: FAILED without last_error`);
  return seen;
}

/** Still FAILED, with the very same reason. */
function ensureSameFailure(machine: MachineView, failed: MachineView, when: string): void {
  ensure(
    machine.state === 'FAILED',
    () => `${machine.id} ${when}: expected to stay FAILED, is ${told(machine)}`,
  );
  ensure(
    machine.lastError === failed.lastError,
    () =>
      `${machine.id} ${when}: last_error changed from ${JSON.stringify(failed.lastError)} ` +
      `to ${JSON.stringify(machine.lastError)}`,
  );
}

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

const TIMEOUT_MARGIN_MS = 3_000;
const READINESS_MARGIN_MS = 5_000;
const EARLY_MS = 500;
const AFTER_LATE_SUCCESS_MS = 2_000;

async function timeoutFails(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-timeout');
  const { lastError } = await mustFail(context, machineId, TIMEOUT_MARGIN_MS);
  ensure(
    /time[d]?[\s-]*out|deadline/i.test(lastError),
    () => `${machineId}: last_error does not mention the timeout: ${JSON.stringify(lastError)}`,
  );
  await neverReaches(context, machineId, ['IDLE', 'CONFIGURING', 'CONFIGURED'], STABLE_WINDOW_MS);
}

async function lateSuccessDiscarded(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-slow-ok');
  const failed = await mustFail(context, machineId, TIMEOUT_MARGIN_MS);
  const waitMs = context.faultTimeoutMs + scaled(context, AFTER_LATE_SUCCESS_MS);
  await sleep(context.runtime, waitMs, context.signal);
  ensureSameFailure(await read(context, machineId), failed, 'after its work succeeded too late');
}

async function readinessGate(context: CheckContext): Promise<void> {
  const { clock } = context.runtime;
  const machineId = await walkToIdle(context);
  // Before the call, so that no timer of the provider can have started earlier.
  const startMs = clock.monotonicMs();
  const call = { machineId, clusterId: 'fault-readiness-block', blob: standardBlob };
  const ack = acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  const samples = ack.machine === undefined ? [] : [ack.machine];
  const earliestMs = startMs + context.faultTimeoutMs - EARLY_MS;
  await poll(context, { forMs: earliestMs - clock.monotonicMs() }, async () => {
    const answer = await context.endpoint.get(machineId);
    if (!answer.ok || clock.monotonicMs() > earliestMs) return undefined;
    samples.push(answer.value);
    return answer.value.state === 'CONFIGURING' ? undefined : answer.value;
  });
  const early = samples.find(({ state }) => state !== 'CONFIGURING');
  ensure(
    early === undefined && samples.length > 0,
    () =>
      `${machineId}: its node is not Ready, so it must stay CONFIGURING until the timeout; ` +
      `went ${distinctInOrder(samples).join(' → ')}, is ${told(early)}`,
  );
  await neverConfigured(context, machineId);
}

/** From here on only the timeout may end the wait, and only in FAILED. */
async function neverConfigured(context: CheckContext, machineId: string): Promise<void> {
  const forMs = context.faultTimeoutMs + scaled(context, READINESS_MARGIN_MS);
  const end = await poll(context, { forMs }, async () => {
    const answer = await context.endpoint.get(machineId);
    return answer.ok && answer.value.state !== 'CONFIGURING' ? answer.value : undefined;
  });
  ensure(
    end?.state === 'FAILED' && end.lastError !== '',
    () => `${machineId}: expected FAILED with last_error after the timeout, is ${told(end)}`,
  );
}

async function terminal(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-error');
  const failed = await mustFail(context, machineId, MARGIN_MS);
  for (const mutation of mutations) {
    const answer = await fencedCall(context, mutation, machineId, undefined);
    rejected(answer, `${mutation} ${machineId} (FAILED)`);
    ensureSameFailure(await read(context, machineId), failed, `after ${mutation}`);
  }
  await staysIn(context, machineId, 'FAILED', STABLE_WINDOW_MS);
  ensureSameFailure(await read(context, machineId), failed, 'after every mutation');
}

async function readable(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-error');
  const failed = await mustFail(context, machineId, MARGIN_MS);
  for (let reading = 1; reading <= 3; reading++) {
    ensureSameFailure(await read(context, machineId), failed, `on Get number ${reading}`);
  }
  const record = await listedRecord(context, machineId, 'FAILED');
  ensureSameFailure(record, failed, 'on List(FAILED)');
}

export const failureChecks: readonly Check[] = [
  defineCheck('B701', 'Failure', configureError),
  defineCheck('B702', 'Failure', createError),
  defineCheck('B706', 'Failure', failingDrain),
  defineCheck('B703', 'Failure', timeoutFails),
  defineCheck('B704', 'Failure', lateSuccessDiscarded),
  defineCheck('B708', 'Configured means Ready', readinessGate),
  defineCheck('B705', 'Failure', terminal),
  defineCheck('B707', 'Failure', readable),
];

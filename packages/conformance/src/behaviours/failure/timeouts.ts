// B703, B704, B708: work that does not end in time. The timeout is the provider's own (T), so only
// the margins are scaled.

import { sleep } from '@bigfleet/base';
import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, ensure } from '../../harness/expect.ts';
import { neverReaches, read, told } from '../../harness/reach.ts';
import { distinctInOrder } from '../../harness/trace.ts';
import { poll, scaled } from '../../harness/wait.ts';
import { standardBlob, walkToIdle } from '../../harness/walk.ts';
import { configureWithFault, ensureSameFailure, mustFail, STABLE_WINDOW_MS } from './failed.ts';

const MARGIN_MS = 3_000;
const READINESS_MARGIN_MS = 5_000;
const EARLY_MS = 500;
const AFTER_LATE_SUCCESS_MS = 2_000;

async function timeoutFails(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-timeout');
  const { lastError } = await mustFail(context, machineId, MARGIN_MS);
  ensure(
    /time[d]?[\s-]*out|deadline/i.test(lastError),
    () => `${machineId}: last_error does not mention the timeout: ${JSON.stringify(lastError)}`,
  );
  await neverReaches(context, machineId, ['IDLE', 'CONFIGURING', 'CONFIGURED'], STABLE_WINDOW_MS);
}

async function lateSuccessDiscarded(context: CheckContext): Promise<void> {
  const machineId = await configureWithFault(context, 'fault-slow-ok');
  const failed = await mustFail(context, machineId, MARGIN_MS);
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

export const timeoutChecks: readonly Check[] = [
  defineCheck('B703', 'Failure', timeoutFails),
  defineCheck('B704', 'Failure', lateSuccessDiscarded),
  defineCheck('B708', 'Configured means Ready', readinessGate),
];

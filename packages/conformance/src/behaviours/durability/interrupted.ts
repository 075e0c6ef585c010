// B1006: a transition whose worker died with the process does not hang for ever. The fault provider
// is killed while a Configure of it certainly runs; the target itself must show nothing in
// transition after its own reboot.

import { type Check, SkipCheck } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { accepted, ensure } from '../../harness/expect.ts';
import { isTransitional } from '../../harness/machine.ts';
import { ensureUnbound } from '../../harness/metadata.ts';
import { told, waitFor } from '../../harness/reach.ts';
import { scaled } from '../../harness/wait.ts';
import { configureWithFault } from '../failure/failed.ts';
import { DURABLE_SETTLE_MS } from './stage.ts';

const OBSERVE_MS = 5_000;

async function interruptedIsRecovered(context: CheckContext): Promise<void> {
  const { process } = context;
  if (process === undefined) {
    throw new SkipCheck('precondition-unmet', 'the lane owns no fault provider to kill');
  }
  noneInTransition(context);
  const running = { ...context, endpoint: process.endpoint };
  const machineId = await configureWithFault(running, 'fault-timeout');
  const { seen, last } = await waitFor(running, machineId, {
    withinMs: scaled(context, OBSERVE_MS),
    until: ({ state }) => state === 'CONFIGURING',
  });
  ensure(
    seen !== undefined,
    () => `${machineId}: never seen CONFIGURING (${told(last)}), so the kill would prove nothing`,
  );
  const endpoint = await process.killAndReboot();
  await ensureRecovered({ ...context, endpoint }, machineId);
}

/** FAILED with a reason, or IDLE as if nothing had been; CONFIGURED would be a lie. */
async function ensureRecovered(context: CheckContext, machineId: string): Promise<void> {
  const { seen, last } = await waitFor(context, machineId, {
    withinMs: scaled(context, DURABLE_SETTLE_MS),
    until: ({ state }) => !isTransitional(state),
  });
  ensure(
    seen?.state === 'FAILED' || seen?.state === 'IDLE',
    () =>
      `${machineId}: its Configure was cut by SIGKILL; expected FAILED with last_error after the ` +
      `restart, is ${told(last)}`,
  );
  if (seen.state === 'IDLE') ensureUnbound(seen, 'IDLE after the restart');
  else
    ensure(
      seen.lastError !== '',
      () => `${machineId}: FAILED after the restart without last_error`,
    );
}

function noneInTransition({ durable }: CheckContext): void {
  if (durable === undefined) return;
  const { machines } = accepted(durable.after, 'the first List() after the restart');
  const moving = machines.find(({ state }) => isTransitional(state));
  ensure(
    moving === undefined,
    () => `${moving?.id}: ${moving?.state} after the restart although it rested before the kill`,
  );
}

export const interruptedChecks: readonly Check[] = [
  defineCheck('B1006', 'Restarts', interruptedIsRecovered),
];

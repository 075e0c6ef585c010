// B705, B707: FAILED is terminal for every RPC and stays readable with its reason.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { rejected } from '../../harness/expect.ts';
import { fencedCall, mutations } from '../../harness/fencing.ts';
import { listedRecord } from '../../harness/inventory.ts';
import { read, staysIn } from '../../harness/reach.ts';
import { configureWithFault, ensureSameFailure, mustFail, STABLE_WINDOW_MS } from './failed.ts';

const MARGIN_MS = 5_000;

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

export const terminalChecks: readonly Check[] = [
  defineCheck('B705', 'Failure', terminal),
  defineCheck('B707', 'Failure', readable),
];

// B201–B204: calls from the wrong state are refused, never with the fence's code, and change
// nothing.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { notFenced, rejected } from '../../harness/expect.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import {
  onConfigured,
  onIdle,
  release,
  standardBlob,
  walkToConfigured,
} from '../../harness/walk.ts';
import { ensureUntouched } from './untouched.ts';

const cluster = 'conf-position';
const metadata: ReadonlyMap<string, string> = new Map([['position/key', 'kept']]);

async function createOnConfigured(context: CheckContext, machineId: string): Promise<void> {
  rejected(await context.endpoint.create({ machineId }), `Create ${machineId} (CONFIGURED)`);
  await ensureUntouched(context, { machineId, state: 'CONFIGURED', cluster, metadata });
}

async function configureOnSpeculative(context: CheckContext): Promise<void> {
  const machineId = await pickSpeculative(context);
  const call = { machineId, clusterId: cluster, blob: standardBlob, metadata };
  rejected(await context.endpoint.configure(call), `Configure ${machineId} (SPECULATIVE)`);
  await ensureUntouched(context, { machineId, state: 'SPECULATIVE' });
}

async function drainOnIdle(context: CheckContext, machineId: string): Promise<void> {
  const answer = await context.endpoint.drain({ machineId, graceSeconds: 0n });
  notFenced(answer, `Drain ${machineId} (IDLE)`);
  await ensureUntouched(context, { machineId, state: 'IDLE' });
}

async function deleteOutOfPosition(context: CheckContext): Promise<void> {
  const slotId = await pickSpeculative(context);
  const slotAnswer = await context.endpoint.delete({ machineId: slotId });
  notFenced(slotAnswer, `Delete ${slotId} (SPECULATIVE)`);
  await ensureUntouched(context, { machineId: slotId, state: 'SPECULATIVE' });
  const machineId = await walkToConfigured(context, { clusterId: cluster, metadata });
  rejected(await context.endpoint.delete({ machineId }), `Delete ${machineId} (CONFIGURED)`);
  await ensureUntouched(context, { machineId, state: 'CONFIGURED', cluster, metadata });
  await release(context, machineId);
}

export const positionChecks: readonly Check[] = [
  defineCheck(
    'B201',
    'Codes by state',
    onConfigured(createOnConfigured, { clusterId: cluster, metadata }),
  ),
  defineCheck('B202', 'Codes by state', configureOnSpeculative),
  defineCheck('B203', 'Codes by state', onIdle(drainOnIdle)),
  defineCheck('B204', 'Codes by state', deleteOutOfPosition),
];

// B205, B206, B214: a retry gets the operation that it retries; a new cycle gets a new one.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, ensure, notFenced } from '../../harness/expect.ts';
import { expectState, neverReaches } from '../../harness/reach.ts';
import {
  configureTo,
  createToIdle,
  drainToIdle,
  onIdle,
  onSlot,
  standardBlob,
} from '../../harness/walk.ts';
import { ensureUntouched } from './untouched.ts';

const WINDOW_MS = 250;
const clusterId = 'conf-replay';

async function atTargetIsNoOp(context: CheckContext, machineId: string): Promise<void> {
  acknowledged(await context.endpoint.create({ machineId }), `Create ${machineId} again at IDLE`);
  await neverReaches(context, machineId, ['CREATING'], WINDOW_MS);
  await expectState(context, machineId, 'IDLE');
  await configureTo(context, machineId, { clusterId });
  const again = await context.endpoint.configure({ machineId, clusterId, blob: standardBlob });
  const { machine } = acknowledged(again, `Configure ${machineId} again at CONFIGURED`);
  ensure(
    machine?.state === 'CONFIGURED',
    () =>
      `Configure ${machineId} again: expected a CONFIGURED snapshot in the ack, ` +
      `got ${machine?.state ?? 'none'}`,
  );
  await neverReaches(context, machineId, ['CONFIGURING', 'DRAINING'], WINDOW_MS);
  await expectState(context, machineId, 'CONFIGURED');
  await rebindsNothing(context, machineId);
}

/** With other arguments it is still at its target: a machine goes to another cluster by IDLE only. */
async function rebindsNothing(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map([['replay/other', 'tenant']]);
  const call = { machineId, clusterId: 'conf-other', blob: standardBlob, metadata };
  notFenced(await context.endpoint.configure(call), `Configure ${machineId} for another cluster`);
  await ensureUntouched(context, { machineId, state: 'CONFIGURED', cluster: clusterId });
}

async function replayReturnsSameId(context: CheckContext, machineId: string): Promise<void> {
  const created = (await createToIdle(context, machineId)).ack.operationId;
  const createdAgain = await context.endpoint.create({ machineId });
  ensureSame(created, acknowledged(createdAgain, `Create ${machineId} again`), 'Create', machineId);
  const configured = (await configureTo(context, machineId, { clusterId })).ack.operationId;
  ensure(
    configured !== created,
    () => `${machineId}: Configure returned the operation_id of Create, ${created}`,
  );
  const again = await context.endpoint.configure({ machineId, clusterId, blob: standardBlob });
  const ack = acknowledged(again, `Configure ${machineId} again`);
  ensureSame(configured, ack, 'Configure', machineId);
}

async function newCycleNewId(context: CheckContext, machineId: string): Promise<void> {
  const ids = [(await createToIdle(context, machineId)).ack.operationId];
  for (let cycle = 0; cycle < 2; cycle++) {
    ids.push((await configureTo(context, machineId, { clusterId })).ack.operationId);
    ids.push((await drainToIdle(context, machineId, 0n)).ack.operationId);
  }
  ensure(
    new Set(ids).size === ids.length,
    () =>
      `${machineId}: expected ${ids.length} distinct operation ids over Create and two cycles of ` +
      `Configure and Drain, got ${ids.join(', ')}`,
  );
  const again = await context.endpoint.drain({ machineId, graceSeconds: 0n });
  const ack = acknowledged(again, `Drain ${machineId} again at IDLE`);
  ensureSame(ids.at(-1) ?? '', ack, 'Drain', machineId);
}

function ensureSame(
  first: string,
  { operationId }: { readonly operationId: string },
  rpc: string,
  machineId: string,
): void {
  ensure(
    operationId === first,
    () => `${rpc} ${machineId} again: expected operation_id ${first}, got ${operationId}`,
  );
}

export const replayChecks: readonly Check[] = [
  defineCheck('B205', 'Retries', onIdle(atTargetIsNoOp)),
  defineCheck('B206', 'Retries', onSlot(replayReturnsSameId)),
  defineCheck('B214', 'Retries', onSlot(newCycleNewId)),
];

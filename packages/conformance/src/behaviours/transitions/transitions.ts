// B201–B208, B214, B215: calls from the wrong state, retries, and ids that name nothing. A refused
// call gets any code but the fence's and leaves the machine exactly as it was: checked at once and for
// a window, since a provider may refuse the call and do the work all the same. A retry gets the
// operation that it retries; a new cycle gets a new one.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import type { MachineView, State, TextMap } from '../../harness/machine.ts';
import { ensureCluster, ensureMetadata } from '../../harness/metadata.ts';
import { expectState, neverReaches, staysIn } from '../../harness/reach.ts';
import {
  configureTo,
  createToIdle,
  drainToIdle,
  noMetadata,
  onConfigured,
  onIdle,
  onSlot,
  release,
  standardBlob,
  walkToConfigured,
} from '../../harness/walk.ts';
import { acknowledged, ensure, notFenced, refusedWith, rejected } from '../../harness/expect.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { type Mutation, fencedCall, uniqueShardId } from '../../harness/fencing.ts';

const STABILITY_MS = 250;

export interface Untouched {
  readonly machineId: string;
  readonly state: State;
  /** Empty unless bound. */
  readonly cluster?: string;
  readonly metadata?: TextMap;
  readonly windowMs?: number;
}

export async function ensureUntouched(context: CheckContext, expected: Untouched): Promise<void> {
  const { machineId, state, windowMs = STABILITY_MS } = expected;
  ensureBinding(await expectState(context, machineId, state), expected, 'after the call');
  await staysIn(context, machineId, state, windowMs);
  ensureBinding(await expectState(context, machineId, state), expected, `${windowMs} ms later`);
}

function ensureBinding(machine: MachineView, expected: Untouched, where: string): void {
  ensureCluster(machine, expected.cluster ?? '', where);
  ensureMetadata(machine, expected.metadata ?? noMetadata, where);
}

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

export const alwaysImplemented: readonly Mutation[] = ['create', 'configure', 'drain'];

/** An id that no provider can hold. */
export function ghostId(context: CheckContext): string {
  return uniqueShardId(context, 'ghost');
}

async function unknownCreatesNothing(context: CheckContext): Promise<void> {
  const machineId = ghostId(context);
  for (const mutation of alwaysImplemented) {
    const answer = await fencedCall(context, mutation, machineId, undefined);
    refusedWith(answer, ['NOT_FOUND'], `${mutation} of the unknown ${machineId}`);
  }
  const read = await context.endpoint.get(machineId);
  refusedWith(read, ['NOT_FOUND'], `Get of the unknown ${machineId} after mutations`);
}

export async function emptyIdIsMalformed(context: CheckContext): Promise<void> {
  refusedWith(await context.endpoint.get(''), ['INVALID_ARGUMENT'], 'Get without an id');
  for (const mutation of alwaysImplemented) {
    const answer = await fencedCall(context, mutation, '', undefined);
    refusedWith(answer, ['INVALID_ARGUMENT'], `${mutation} without a machine id`);
  }
}

async function unknownGetAndDelete(context: CheckContext): Promise<void> {
  const machineId = ghostId(context);
  const { endpoint } = context;
  refusedWith(await endpoint.get(machineId), ['NOT_FOUND'], `Get of the unknown ${machineId}`);
  const answer = await endpoint.delete({ machineId });
  refusedWith(answer, ['NOT_FOUND', 'UNIMPLEMENTED'], `Delete of the unknown ${machineId}`);
}

export const transitionChecks: readonly Check[] = [
  defineCheck(
    'B201',
    'Codes by state',
    onConfigured(createOnConfigured, { clusterId: cluster, metadata }),
  ),
  defineCheck('B202', 'Codes by state', configureOnSpeculative),
  defineCheck('B203', 'Codes by state', onIdle(drainOnIdle)),
  defineCheck('B204', 'Codes by state', deleteOutOfPosition),
  defineCheck('B205', 'Retries', onIdle(atTargetIsNoOp)),
  defineCheck('B206', 'Retries', onSlot(replayReturnsSameId)),
  defineCheck('B214', 'Retries', onSlot(newCycleNewId)),
  defineCheck('B207', 'The order of checks', unknownCreatesNothing),
  defineCheck('B208', 'The order of checks', emptyIdIsMalformed),
  defineCheck('B215', 'Codes by state', unknownGetAndDelete),
];

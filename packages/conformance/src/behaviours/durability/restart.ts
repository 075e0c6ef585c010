// B1001–B1007: what was acknowledged before SIGKILL is there after it, what is new after it is really
// new, and a transition whose worker died with the process does not hang for ever (B1006: the fault
// provider is killed while a Configure of it certainly runs; the target itself must show nothing in
// transition after its own reboot).

import {
  type Check,
  type CheckContext,
  type DurableStage,
  SkipCheck,
  defineCheck,
} from '../../harness/check.ts';
import type { Inventory } from '../../harness/endpoint.ts';
import { accepted, acknowledged, ensure, fenced } from '../../harness/expect.ts';
import { fencedCreate, token, uniqueShardId } from '../../harness/fencing.ts';
import {
  distinctById,
  listed,
  listedRecord,
  missingFrom,
  someOf,
} from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { pickSpeculative } from '../../harness/pick.ts';
import { expectState, mustReach, told, waitFor } from '../../harness/reach.ts';
import { createToIdle, standardBlob } from '../../harness/walk.ts';
import { DURABLE_SETTLE_MS } from './stage.ts';
import { isTransitional } from '../../harness/machine.ts';
import { scaled } from '../../harness/wait.ts';
import { configureWithFault } from '../failure/failure.ts';

async function marksSurvive(context: CheckContext): Promise<void> {
  const { machineId, shardId, tokens } = stageOf(context).before.fenced;
  for (const { epoch, sequence } of tokens) {
    const answer = await fencedCreate(context, machineId, token(shardId, epoch, sequence));
    const what = `after the restart, Create ${machineId} with (${epoch},${sequence}), which was`;
    fenced(answer, `${what} accepted before it`);
  }
}

async function idempotencySurvives(context: CheckContext): Promise<void> {
  const { machineId, clusterId, metadata, operationId } = stageOf(context).before.bound;
  const call = { machineId, clusterId, metadata, blob: standardBlob };
  const what = `after the restart, the same Configure of ${machineId}`;
  const ack = acknowledged(await context.endpoint.configure(call), what);
  ensure(
    ack.operationId === operationId,
    () => `${what}: expected operation_id ${operationId}, got ${ack.operationId}`,
  );
}

async function bindingSurvives(context: CheckContext): Promise<void> {
  const { machineId, clusterId, metadata } = stageOf(context).before.bound;
  const onList = 'List(CONFIGURED) after the restart';
  for (const [machine, where] of [
    [await expectState(context, machineId, 'CONFIGURED'), 'Get after the restart'],
    [await listedRecord(context, machineId, 'CONFIGURED', onList), onList],
  ] as const) {
    ensureCluster(machine, clusterId, where);
    ensureMetadata(machine, metadata, where);
  }
}

async function inventoryIdentical(context: CheckContext): Promise<void> {
  const { before } = stageOf(context);
  const after = distinctById(firstList(context).machines, 'List() after the restart');
  const ids = new Set(after.keys());
  const lost = missingFrom(ids, before.states.keys());
  ensure(lost.length === 0, () => `lost by the restart: ${someOf(lost)}`);
  const extra = missingFrom(new Set(before.states.keys()), ids);
  ensure(extra.length === 0, () => `invented by the restart: ${someOf(extra)}`);
  for (const [id, state] of before.states) {
    const now = after.get(id)?.state;
    ensure(now === state, () => `${id}: was ${state} before the restart, is ${now} after it`);
  }
}

async function freshIds(context: CheckContext): Promise<void> {
  const { before } = stageOf(context);
  const { revision } = firstList(context);
  ensure(revision.length > 0, 'List() after the restart: the revision is empty');
  const machineId = await pickSpeculative(context);
  const { ack } = await createToIdle(context, machineId, { withinMs: DURABLE_SETTLE_MS });
  ensure(
    !before.operationIds.has(ack.operationId),
    () => `Create ${machineId} after the restart: operation_id ${ack.operationId} was used before`,
  );
  const { machines } = await listed(context, { since: revision });
  ensure(
    machines.some(({ id }) => id === machineId),
    () => `the delta since the first revision after the restart lacks ${machineId}, created later`,
  );
}

async function noGlobalMark(context: CheckContext): Promise<void> {
  stageOf(context);
  const machineId = await pickSpeculative(context);
  const stamp = token(uniqueShardId(context, 'durB'), 1n, 1n);
  const answer = await fencedCreate(context, machineId, stamp);
  acknowledged(answer, `Create ${machineId} by a new shard with (1,1) after the restart`);
  await mustReach(context, machineId, 'IDLE', DURABLE_SETTLE_MS);
}

function stageOf({ durable }: CheckContext): DurableStage {
  if (durable !== undefined) return durable;
  throw new SkipCheck('precondition-unmet', 'the lane did not restart the provider');
}

/** Before any check touched the rebooted provider. */
function firstList(context: CheckContext): Inventory {
  return accepted(stageOf(context).after, 'the first List() after the restart');
}

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

export const restartChecks: readonly Check[] = [
  defineCheck('B1001', 'Restarts', marksSurvive),
  defineCheck('B1002', 'Restarts', idempotencySurvives),
  defineCheck('B1003', 'Restarts', bindingSurvives),
  defineCheck('B1004', 'Restarts', inventoryIdentical),
  defineCheck('B1005', 'Restarts', freshIds),
  defineCheck('B1007', 'Restarts', noGlobalMark),
  defineCheck('B1006', 'Restarts', interruptedIsRecovered),
];

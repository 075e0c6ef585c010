// B404, B405, B407: calls that conflict, calls of a zombie, and calls that have nothing to do with
// each other.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import type { Ack, Answer } from '../../harness/endpoint.ts';
import { acknowledged, ensure, fenced, isCode, notFenced, shown } from '../../harness/expect.ts';
import { fanout } from '../../harness/fanout.ts';
import { fencedCreate, token, uniqueShardId } from '../../harness/fencing.ts';
import { isTransitional } from '../../harness/machine.ts';
import { ensureCluster, ensureUnbound } from '../../harness/metadata.ts';
import { pickN } from '../../harness/pick.ts';
import { mustReach, staysIn, told, waitFor } from '../../harness/reach.ts';
import { scaled, SETTLE_MS } from '../../harness/wait.ts';
import { onIdle, release, standardBlob, walkToConfigured } from '../../harness/walk.ts';

const WINDOW_MS = 300;
const PARALLEL_SETTLE_MS = 30_000;
const SHARDS_EACH = 12;
/** Prime to it: every sequence comes once. */
const STRIDE = 5;
const MACHINES = 8;

async function conflictSerialises(context: CheckContext): Promise<void> {
  const clusterId = 'conf-race';
  const machineId = await walkToConfigured(context, { clusterId });
  const { endpoint } = context;
  const [configured, drained] = await Promise.all([
    endpoint.configure({ machineId, clusterId, blob: standardBlob }),
    endpoint.drain({ machineId, graceSeconds: 0n }),
  ]);
  notFenced(configured, `Configure ${machineId} racing a Drain`);
  notFenced(drained, `Drain ${machineId} racing a Configure`);
  const { seen, last } = await waitFor(context, machineId, {
    withinMs: scaled(context, SETTLE_MS),
    until: ({ state }) => !isTransitional(state),
  });
  ensure(
    seen?.state === 'IDLE' || seen?.state === 'CONFIGURED',
    () => `${machineId} after Configure ∥ Drain: expected IDLE or CONFIGURED, is ${told(last)}`,
  );
  if (seen.state === 'IDLE') ensureUnbound(seen, 'IDLE after Configure ∥ Drain');
  else ensureCluster(seen, clusterId, 'CONFIGURED after Configure ∥ Drain');
  await staysIn(context, machineId, seen.state, WINDOW_MS);
  await release(context, machineId);
}

async function liveBeatsZombie(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'zombie');
  const send: Send = (epoch, sequence) =>
    fencedCreate(context, machineId, token(shardId, epoch, sequence));
  acknowledged(await send(1n, 1000n), `Create ${machineId} with (1,1000)`);
  const answers = await fanout(2 * SHARDS_EACH, (index) => {
    const at = Math.floor(index / 2);
    return index % 2 === 0 ? send(1n, BigInt(at)) : send(2n, liveSequence(at));
  });
  for (const [at, zombie] of answers.filter((_, index) => index % 2 === 0).entries()) {
    fenced(zombie, `Create ${machineId} by the zombie with (1,${at}), mark at least (1,1000)`);
  }
  const live = answers.filter((_, index) => index % 2 === 1);
  await newestLiveIsTheMark(machineId, live, send);
  fenced(await send(1n, 9n), `Create ${machineId} by the zombie with (1,9) afterwards`);
  acknowledged(await send(2n, 9999n), `Create ${machineId} by the live epoch with (2,9999)`);
}

type Send = (epoch: bigint, sequence: bigint) => Promise<Answer<Ack>>;

/** And not the one that happened to be written last. */
async function newestLiveIsTheMark(
  machineId: string,
  live: readonly Answer<Ack>[],
  send: Send,
): Promise<void> {
  for (const answer of live) {
    ensure(
      answer.ok || isCode(answer, 'FAILED_PRECONDITION'),
      () => `Create ${machineId} by the live epoch: expected OK or fenced, got ${shown(answer)}`,
    );
  }
  ensure(
    live.some(({ ok }) => ok),
    () => `Create ${machineId}: none of ${SHARDS_EACH} calls of the live epoch (2,…) was accepted`,
  );
  for (const [at, answer] of live.entries()) {
    if (!answer.ok) continue;
    const what = `Create ${machineId} again with (2,${liveSequence(at)}), accepted in the burst`;
    fenced(await send(2n, liveSequence(at)), what);
  }
}

/** 100 to 111, but not in their order: a connection delivers in the order of the calls. */
function liveSequence(at: number): bigint {
  return BigInt(100 + ((at * STRIDE) % SHARDS_EACH));
}

async function noCrossMachineBleed(context: CheckContext): Promise<void> {
  const ids = await pickN(context, MACHINES);
  const answers = await fanout(ids.length, (index) =>
    context.endpoint.create({ machineId: ids[index] ?? '' }),
  );
  const operationIds = answers.map((answer, index) => {
    const ack = acknowledged(answer, `Create ${ids[index]} beside ${MACHINES - 1} others`);
    ensure(
      ack.machine === undefined || ack.machine.id === ids[index],
      () => `Create ${ids[index]}: the ack carries the record of ${ack.machine?.id}`,
    );
    return ack.operationId;
  });
  ensure(
    new Set(operationIds).size === ids.length,
    () => `${MACHINES} concurrent Creates: operation ids repeat: ${operationIds.join(', ')}`,
  );
  for (const machineId of ids) {
    const machine = await mustReach(context, machineId, 'IDLE', PARALLEL_SETTLE_MS);
    ensureUnbound(machine, 'IDLE after parallel Creates');
  }
  await release(context, ...ids);
}

export const raceChecks: readonly Check[] = [
  defineCheck('B404', 'Retries', conflictSerialises),
  defineCheck('B405', 'The fence', onIdle(liveBeatsZombie)),
  defineCheck('B407', 'Retries', noCrossMachineBleed),
];

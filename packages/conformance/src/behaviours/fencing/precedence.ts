// B301, B306, B307, B309–B311: the fence comes first. Before existence, so that a zombie learns
// nothing; before replay, so that it is not handed the operation id of its successor; and its mark
// moves even when the operation is refused afterwards. A live shard's stream passes on every RPC, and
// a new epoch shuts out the old one.

import { TokenSource } from '@bigfleet/wire';
import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import {
  acknowledged,
  ensure,
  fenced,
  isCode,
  refusedWith,
  rejected,
} from '../../harness/expect.ts';
import {
  type Mutation,
  fencedCall,
  fencedCreate,
  mutations,
  token,
  uniqueShardId,
} from '../../harness/fencing.ts';
import type { State } from '../../harness/machine.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import {
  configureTo,
  createToIdle,
  deleteToSpeculative,
  drainToIdle,
  onConfigured,
  onIdle,
  onSlot,
  standardCluster,
} from '../../harness/walk.ts';
import { ghostId } from '../transitions/transitions.ts';
import { ensureCluster } from '../../harness/metadata.ts';

async function fenceBeforeExistence(context: CheckContext): Promise<void> {
  const ghost = ghostId(context);
  const shardId = uniqueShardId(context, 'existence');
  const first = await fencedCreate(context, ghost, token(shardId, 5n, 5n));
  refusedWith(first, ['NOT_FOUND'], `Create of the unknown ${ghost} with the first token (5,5)`);
  for (const mutation of mutations) {
    const answer = await fencedCall(context, mutation, ghost, token(shardId, 1n, 1n));
    if (mutation === 'delete' && isCode(answer, 'UNIMPLEMENTED')) continue;
    fenced(answer, `${mutation} of the unknown ${ghost} with (1,1) after (5,5)`);
  }
  const newer = await fencedCreate(context, ghost, token(shardId, 9n, 9n));
  refusedWith(newer, ['NOT_FOUND'], `Create of the unknown ${ghost} with (9,9) after (5,5)`);
}

function fenceBeforeReplay(mutation: Mutation, target: State) {
  return async (context: CheckContext, machineId: string): Promise<void> => {
    const shardId = uniqueShardId(context, 'replay');
    const send = (epoch: bigint, sequence: bigint) =>
      fencedCall(context, mutation, machineId, token(shardId, epoch, sequence));
    const first = acknowledged(await send(5n, 5n), `${mutation} ${machineId} with (5,5)`);
    await mustReach(context, machineId, target);
    fenced(await send(1n, 1n), `the same ${mutation} of ${machineId} with (1,1) after (5,5)`);
    await expectState(context, machineId, target);
    const what = `the same ${mutation} of ${machineId} with (5,6) after (5,5)`;
    const again = acknowledged(await send(5n, 6n), what);
    ensure(
      again.operationId === first.operationId,
      () => `${what}: expected operation_id ${first.operationId}, got ${again.operationId}`,
    );
    await expectState(context, machineId, target);
  };
}

async function markMovesThoughRejected(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'rejected');
  const drained = await fencedCall(context, 'drain', machineId, token(shardId, 5n, 5n));
  rejected(drained, `Drain ${machineId} (SPECULATIVE) with (5,5)`);
  const stale = await fencedCreate(context, machineId, token(shardId, 5n, 4n));
  fenced(stale, `Create ${machineId} with (5,4) after a rejected Drain with (5,5)`);
  await expectState(context, machineId, 'SPECULATIVE');
  const newer = await fencedCreate(context, machineId, token(shardId, 5n, 6n));
  acknowledged(newer, `Create ${machineId} with (5,6) after (5,5)`);
  await mustReach(context, machineId, 'IDLE');
}

const binding = { clusterId: standardCluster };

async function monotonicSession(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'session');
  const session = new TokenSource(shardId, 1n);
  await createToIdle(context, machineId, { token: session.next() });
  for (let round = 0; round < 2; round++) {
    await configureTo(context, machineId, binding, { token: session.next() });
    await drainToIdle(context, machineId, 0n, { token: session.next() });
  }
  const stale = await fencedCall(context, 'configure', machineId, token(shardId, 1n, 1n));
  fenced(stale, `Configure ${machineId} with (1,1) after (1,5)`);
  await expectState(context, machineId, 'IDLE');
}

async function newEpochFencesOld(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'epoch');
  await markAtThree(context, machineId, new TokenSource(shardId, 1n));
  for (const sequence of [1n, 3n]) {
    const stamp = token(shardId, 1n, sequence);
    const answer = await fencedCall(context, 'configure', machineId, stamp);
    fenced(answer, `Configure ${machineId} with (1,${sequence}) after (1,3)`);
  }
  await expectState(context, machineId, 'IDLE');
  const newer = { token: token(shardId, 2n, 1n) };
  const { machine } = await configureTo(context, machineId, binding, newer);
  ensureCluster(machine, standardCluster, 'after Configure with (2,1)');
  const zombie = await fencedCall(context, 'configure', machineId, token(shardId, 1n, 99n));
  fenced(zombie, `Configure ${machineId} with (1,99) after (2,1)`);
}

/** By Create, Delete, Create; without Delete by three Creates, which replay. */
async function markAtThree(
  context: CheckContext,
  machineId: string,
  session: TokenSource,
): Promise<void> {
  await createToIdle(context, machineId, { token: session.next() });
  if (context.capabilities.delete) {
    await deleteToSpeculative(context, machineId, { token: session.next() });
    await createToIdle(context, machineId, { token: session.next() });
    return;
  }
  for (let call = 0; call < 2; call++) {
    const answer = await fencedCreate(context, machineId, session.next());
    acknowledged(answer, `Create ${machineId} again, with a newer token`);
  }
  await mustReach(context, machineId, 'IDLE');
}

export const precedenceChecks: readonly Check[] = [
  defineCheck('B301', 'The order of checks', fenceBeforeExistence),
  defineCheck('B306', 'The order of checks', onIdle(fenceBeforeReplay('configure', 'CONFIGURED'))),
  defineCheck('B307', 'The order of checks', onConfigured(fenceBeforeReplay('drain', 'IDLE'))),
  defineCheck('B311', 'The fence', onSlot(markMovesThoughRejected)),
  defineCheck('B309', 'The fence', onSlot(monotonicSession)),
  defineCheck('B310', 'The fence', onSlot(newEpochFencesOld)),
];

// B309, B310: a live shard's stream passes on every RPC, and a new epoch shuts out the old one.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged, fenced } from '../../harness/expect.ts';
import { fencedCall, fencedCreate, ShardSession, uniqueShardId } from '../../harness/fencing.ts';
import { ensureCluster } from '../../harness/metadata.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import {
  configureTo,
  createToIdle,
  deleteToSpeculative,
  drainToIdle,
  onSlot,
  standardCluster,
} from '../../harness/walk.ts';

const binding = { clusterId: standardCluster };

async function monotonicSession(context: CheckContext, machineId: string): Promise<void> {
  const session = new ShardSession(uniqueShardId(context, 'session'));
  await createToIdle(context, machineId, { token: session.next() });
  for (let round = 0; round < 2; round++) {
    await configureTo(context, machineId, binding, { token: session.next() });
    await drainToIdle(context, machineId, 0n, { token: session.next() });
  }
  const stale = await fencedCall(context, 'configure', machineId, session.stale(1n, 1n));
  fenced(stale, `Configure ${machineId} with (1,1) after (1,5)`);
  await expectState(context, machineId, 'IDLE');
}

async function newEpochFencesOld(context: CheckContext, machineId: string): Promise<void> {
  const session = new ShardSession(uniqueShardId(context, 'epoch'));
  await markAtThree(context, machineId, session);
  session.newEpoch();
  for (const sequence of [1n, 3n]) {
    const stamp = session.stale(1n, sequence);
    const answer = await fencedCall(context, 'configure', machineId, stamp);
    fenced(answer, `Configure ${machineId} with (1,${sequence}) after (1,3)`);
  }
  await expectState(context, machineId, 'IDLE');
  const { machine } = await configureTo(context, machineId, binding, { token: session.next() });
  ensureCluster(machine, standardCluster, 'after Configure with (2,1)');
  const zombie = await fencedCall(context, 'configure', machineId, session.stale(1n, 99n));
  fenced(zombie, `Configure ${machineId} with (1,99) after (2,1)`);
}

/** By Create, Delete, Create; without Delete by three Creates, which replay. */
async function markAtThree(
  context: CheckContext,
  machineId: string,
  session: ShardSession,
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

export const sessionChecks: readonly Check[] = [
  defineCheck('B309', 'The fence', onSlot(monotonicSession)),
  defineCheck('B310', 'The fence', onSlot(newEpochFencesOld)),
];

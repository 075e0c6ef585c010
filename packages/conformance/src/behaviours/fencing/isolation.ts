// B302: marks are per (shard, machine). A mark per shard alone fences a live shard against itself,
// because its concurrent workers reach machines out of order.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { acknowledged } from '../../harness/expect.ts';
import { fencedCreate, token, uniqueShardId } from '../../harness/fencing.ts';
import { pickN } from '../../harness/pick.ts';
import { mustReach } from '../../harness/reach.ts';
import { release } from '../../harness/walk.ts';
import { no, probe, runScript, type ScriptedToken, yes } from './stream.ts';

async function isolatedMarks(context: CheckContext): Promise<void> {
  const ids = await pickN(context, 3);
  const [mA = '', mB = '', mC = ''] = ids;
  const scripts: readonly (readonly [string, string, readonly ScriptedToken[]])[] = [
    [mA, 'a', [yes(9, 9), no(9, 9), no(9, 8), no(8, 99)]],
    [mB, 'b', [yes(7, 3), no(7, 3), no(6, 9), yes(7, 4)]],
    [mC, 'c', [yes(1, 1), no(1, 1), no(0, 9)]],
  ];
  for (const [machineId, name, script] of scripts) {
    const shardId = uniqueShardId(context, `isolation-${name}`);
    await runScript(context, { machineId, shardId }, script);
    await mustReach(context, machineId, 'IDLE');
  }
  await oneShardTwoMachines(context, mA, mB);
  await release(context, ...ids);
}

async function oneShardTwoMachines(context: CheckContext, mA: string, mB: string): Promise<void> {
  const shardId = uniqueShardId(context, 'isolation-d');
  const onA = token(shardId, 5n, 30n);
  const onB = token(shardId, 5n, 7n);
  acknowledged(await fencedCreate(context, mA, onA), `Create ${mA} by ${shardId} with (5,30)`);
  acknowledged(
    await fencedCreate(context, mB, onB),
    `Create ${mB} by ${shardId} with (5,7) after (5,30) on another machine`,
  );
  await probe(context, mB, onB, { isAccepted: false, mark: onB });
  await probe(context, mA, onA, { isAccepted: false, mark: onA });
  await probe(context, mB, token(shardId, 4n, 999n), { isAccepted: false, mark: onB });
}

export const isolationChecks: readonly Check[] = [defineCheck('B302', 'The fence', isolatedMarks)];

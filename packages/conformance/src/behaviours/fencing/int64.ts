// B212: tokens are signed 64-bit integers, exact to the last one. A provider that keeps them as
// floating-point numbers takes neighbours for equals: it fences a live shard or lets a zombie pass.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { uniqueShardId, token } from '../../harness/fencing.ts';
import { ensureCluster } from '../../harness/metadata.ts';
import { expectState } from '../../harness/reach.ts';
import { configureTo, onIdle, standardCluster } from '../../harness/walk.ts';
import { no, probe, runScript, yes } from './stream.ts';

const INT64_MAX = 2n ** 63n - 1n;
/** The first integer whose successor a double cannot hold. */
const DOUBLE_MAX = 2n ** 53n;

async function int64MaxToken(context: CheckContext, machineId: string): Promise<void> {
  await neighboursDiffer(context, machineId);
  const shardId = uniqueShardId(context, 'int64');
  const highest = token(shardId, INT64_MAX, INT64_MAX);
  const binding = { clusterId: standardCluster };
  const { machine } = await configureTo(context, machineId, binding, { token: highest });
  ensureCluster(machine, standardCluster, 'after a Configure with the highest token');
  for (const stale of [highest, token(shardId, INT64_MAX - 1n, INT64_MAX)]) {
    await probe(context, machineId, stale, { isAccepted: false, mark: highest });
  }
  await expectState(context, machineId, 'CONFIGURED');
}

async function neighboursDiffer(context: CheckContext, machineId: string): Promise<void> {
  for (const top of [DOUBLE_MAX + 1n, INT64_MAX]) {
    const shardId = uniqueShardId(context, 'neighbours');
    await runScript(context, { machineId, shardId }, [
      yes(top - 1n, top - 1n),
      yes(top - 1n, top),
      no(top - 1n, top - 1n),
      yes(top, top - 1n),
      no(top - 1n, top),
      yes(top, top),
    ]);
  }
}

export const int64Checks: readonly Check[] = [
  defineCheck('B212', 'The fence', onIdle(int64MaxToken)),
];

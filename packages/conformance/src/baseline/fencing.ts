// Fencing by (shard, machine): a token is accepted if it is newer than the pair's mark, and
// FAILED_PRECONDITION otherwise. Each check sends Creates toward IDLE, which are idempotent, so
// that a refusal can only be the fence's.

import type { CheckContext } from '../harness/check.ts';
import { accepted, acknowledged, fenced } from '../harness/expect.ts';
import { fencedCreate, token, uniqueShardId } from '../harness/fencing.ts';
import { listed } from '../harness/inventory.ts';
import { pickN, pickSpeculative } from '../harness/pick.ts';
import { mustReach } from '../harness/reach.ts';
import { release } from '../harness/walk.ts';
import { type BaselineCheck, STEP } from './check.ts';

type Probe = (epoch: bigint, sequence: bigint, machineId?: string) => Promise<void>;

interface Probes {
  readonly accepts: Probe;
  readonly rejects: Probe;
}

export const fencingChecks: readonly BaselineCheck[] = [
  {
    name: 'FencingUnknownShardAccepted',
    run: onOneMachine(async ({ accepts, rejects }) => {
      await accepts(1n, 1n);
      await rejects(1n, 1n);
    }),
  },
  {
    name: 'FencingStaleEpochRejected',
    run: onOneMachine(async ({ accepts, rejects }) => {
      await accepts(2n, 1n);
      await rejects(1n, 99n);
    }),
  },
  {
    name: 'FencingStaleSequenceRejected',
    run: onOneMachine(async ({ accepts, rejects }) => {
      await accepts(1n, 5n);
      await rejects(1n, 5n);
      await rejects(1n, 4n);
    }),
  },
  { name: 'FencingPerMachineIsolation', run: perMachineIsolation },
  {
    name: 'FencingNewEpochResetsSequence',
    run: onOneMachine(async ({ accepts }) => {
      await accepts(1n, 1000n);
      await accepts(2n, 1n);
    }),
  },
  {
    name: 'FencingReadsUnaffected',
    run: onOneMachine(async ({ accepts, rejects }, context, machineId) => {
      await accepts(2n, 2n);
      await rejects(1n, 1n);
      accepted(await context.endpoint.get(machineId), `Get ${machineId} after a fenced call`);
      await listed(context);
    }),
  },
];

async function perMachineIsolation(context: CheckContext): Promise<void> {
  const [a = '', b = ''] = await pickN(context, 2);
  const { accepts, rejects } = probes(context, a);
  await accepts(1n, 30n, a);
  await accepts(1n, 7n, b);
  await rejects(1n, 7n, b);
  await rejects(1n, 30n, a);
  await rejects(0n, 999n, b);
  await giveBack(context, a, b);
}

function onOneMachine(
  judge: (probes: Probes, context: CheckContext, machineId: string) => Promise<void>,
): (context: CheckContext) => Promise<void> {
  return async (context) => {
    const machineId = await pickSpeculative(context);
    await judge(probes(context, machineId), context, machineId);
    await giveBack(context, machineId);
  };
}

/** All of one shard that the provider has never met. */
function probes(context: CheckContext, usual: string): Probes {
  const shardId = uniqueShardId(context, 'baseline');
  const what = (epoch: bigint, sequence: bigint, machineId: string): string =>
    `Create ${machineId} with token (${epoch},${sequence}) of one shard`;
  return {
    accepts: async (epoch, sequence, machineId = usual) => {
      const answer = await fencedCreate(context, machineId, token(shardId, epoch, sequence));
      acknowledged(answer, what(epoch, sequence, machineId));
    },
    rejects: async (epoch, sequence, machineId = usual) => {
      const answer = await fencedCreate(context, machineId, token(shardId, epoch, sequence));
      fenced(answer, what(epoch, sequence, machineId));
    },
  };
}

async function giveBack(context: CheckContext, ...machineIds: readonly string[]): Promise<void> {
  for (const machineId of machineIds) {
    await mustReach(context, machineId, 'IDLE', STEP.withinMs);
    await release(context, machineId);
  }
}

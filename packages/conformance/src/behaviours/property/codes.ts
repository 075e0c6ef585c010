// B1205: bad shapes get the code that says what is wrong with them, and never the fence's.

import type { Random } from '@bigfleet/base';
import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { notFenced, refusedWith } from '../../harness/expect.ts';
import {
  fencedCall,
  fencedCreate,
  shownToken,
  token,
  uniqueShardId,
} from '../../harness/fencing.ts';
import { waitFor } from '../../harness/reach.ts';
import { isStable } from '../../harness/machine.ts';
import { scaled, SETTLE_MS } from '../../harness/wait.ts';
import {
  configureTo,
  release,
  standardBlob,
  standardCluster,
  walkToIdle,
} from '../../harness/walk.ts';
import { alwaysImplemented, emptyIdIsMalformed, ghostId } from '../transitions/transitions.ts';

const REPETITIONS = 4;

async function codeDiscipline(context: CheckContext): Promise<void> {
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    await emptyIdIsMalformed(context);
    await unknownIds(context);
    await oddShapes(context);
  }
}

async function unknownIds(context: CheckContext): Promise<void> {
  const machineId = ghostId(context);
  refusedWith(await context.endpoint.get(machineId), ['NOT_FOUND'], `Get of unknown ${machineId}`);
  for (const mutation of alwaysImplemented) {
    const answer = await fencedCall(context, mutation, machineId, undefined);
    refusedWith(answer, ['NOT_FOUND'], `${mutation} of unknown ${machineId}`);
  }
  const stamp = randomToken(context);
  const answer = await fencedCreate(context, machineId, stamp);
  refusedWith(answer, ['NOT_FOUND'], `Create of unknown ${machineId} with ${shownToken(stamp)}`);
}

async function oddShapes(context: CheckContext): Promise<void> {
  const { endpoint, random } = context;
  const machineId = await walkToIdle(context);
  const clusterId = standardCluster;
  const metadata = new Map<string, string>();
  for (let at = 400 + random.below(400); at > 0; at--) metadata.set(`odd/${at}`, 'x');
  const blob = new Uint8Array(1024 * (64 + random.below(65))).fill(random.below(256));
  const odd = await fencedCreate(context, machineId, randomToken(context));
  notFenced(odd, `Create ${machineId} with an odd first token`);
  const wide = await endpoint.configure({ machineId, clusterId, metadata, blob: standardBlob });
  notFenced(wide, `Configure ${machineId} with ${metadata.size} metadata keys`);
  await settled(context, machineId);
  await endpoint.drain({ machineId, graceSeconds: 0n });
  await settled(context, machineId);
  const heavy = await endpoint.configure({ machineId, clusterId, blob });
  notFenced(heavy, `Configure ${machineId} with a blob of ${blob.length} bytes`);
  await settled(context, machineId);
  if (!heavy.ok) await configureTo(context, machineId, { clusterId });
  const graceSeconds = BigInt(-1 - random.below(3600));
  const negative = await endpoint.drain({ machineId, graceSeconds });
  notFenced(negative, `Drain ${machineId} with grace ${graceSeconds}`);
  await settled(context, machineId);
  await release(context, machineId);
}

/** Whatever the odd call led to, it ends before the next one. */
async function settled(context: CheckContext, machineId: string): Promise<void> {
  const withinMs = scaled(context, SETTLE_MS);
  await waitFor(context, machineId, { withinMs, until: ({ state }) => isStable(state) });
}

function randomToken(context: CheckContext): ReturnType<typeof token> {
  const shardId = uniqueShardId(context, 'odd');
  return token(shardId, oddNumber(context.random), oddNumber(context.random));
}

/** Zero, small, and the very large; never negative, which a strict provider refuses (B211). */
function oddNumber(random: Random): bigint {
  const numbers = [0n, 1n, BigInt(random.uint32()), 2n ** 53n + 1n, 2n ** 63n - 1n];
  return numbers[random.below(numbers.length)] ?? 0n;
}

export const codeChecks: readonly Check[] = [
  defineCheck('B1205', 'Codes by state', codeDiscipline),
];

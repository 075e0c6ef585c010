// B212, B302, B303, B305, B308, B312: marks are per (shard, machine), ordered, exact to the last
// 64-bit integer, and untouched by what is not fenced at all. A mark per shard alone fences a live
// shard against itself, because its concurrent workers reach machines out of order.
//
// One pair's fence is a script: tokens in order, each with what must become of it. The probe is
// Create on a machine that was created before, so FAILED_PRECONDITION can only be the fence.

import type { FencingToken } from '@bigfleet/wire';
import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { accepted, acknowledged, ensure, fenced } from '../../harness/expect.ts';
import { fencedCreate, shownToken, token, uniqueShardId } from '../../harness/fencing.ts';
import { listed } from '../../harness/inventory.ts';
import { pickN } from '../../harness/pick.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import { configureTo, onIdle, release, standardCluster } from '../../harness/walk.ts';
import { PairOracle, nearMark } from './oracle.ts';
import { ensureCluster } from '../../harness/metadata.ts';

interface ScriptedToken {
  readonly epoch: bigint;
  readonly sequence: bigint;
  readonly isAccepted: boolean;
}

function yes(epoch: number | bigint, sequence: number | bigint): ScriptedToken {
  return { epoch: BigInt(epoch), sequence: BigInt(sequence), isAccepted: true };
}

function no(epoch: number | bigint, sequence: number | bigint): ScriptedToken {
  return { epoch: BigInt(epoch), sequence: BigInt(sequence), isAccepted: false };
}

/** The last accepted token of the script is the mark that a finding names. */
async function runScript(
  context: CheckContext,
  pair: { readonly machineId: string; readonly shardId: string },
  script: readonly ScriptedToken[],
): Promise<void> {
  let mark: FencingToken | undefined;
  for (const { epoch, sequence, isAccepted } of script) {
    const stamp = token(pair.shardId, epoch, sequence);
    await probe(context, pair.machineId, stamp, { isAccepted, mark });
    if (isAccepted) mark = stamp;
  }
}

interface Expected {
  readonly isAccepted: boolean;
  readonly mark: FencingToken | undefined;
}

/** One fenced Create, judged. */
export async function probe(
  context: CheckContext,
  machineId: string,
  stamp: FencingToken,
  { isAccepted, mark }: Expected,
): Promise<void> {
  const answer = await fencedCreate(context, machineId, stamp);
  const against = mark === undefined ? 'as the first token' : `after ${shownToken(mark)}`;
  const what = `Create ${machineId} by ${stamp.shardId} with ${shownToken(stamp)} ${against}`;
  if (isAccepted) acknowledged(answer, what);
  else fenced(answer, what);
}

const RANDOM_STEPS = 200;

async function lexicographic(context: CheckContext, machineId: string): Promise<void> {
  await runScript(context, { machineId, shardId: uniqueShardId(context, 'order') }, [
    yes(2, 5),
    no(2, 5),
    no(2, 4),
    no(1, 9),
    no(1, 99_999),
    yes(2, 6),
    no(2, 6),
    no(2, 5),
    yes(3, 0),
    no(3, 0),
    no(2, 999_999),
    yes(3, 1),
    yes(4, 0),
    no(4, 0),
    yes(10, 7),
    no(10, 7),
    no(9, 999),
  ]);
}

async function readsNeverFence(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'reads');
  const marked = await fencedCreate(context, machineId, token(shardId, 7n, 7n));
  acknowledged(marked, `Create ${machineId} with (7,7)`);
  for (let round = 0n; round < 4n; round++) {
    const stale = await fencedCreate(context, machineId, token(shardId, 1n, round));
    fenced(stale, `Create ${machineId} with (1,${round}) after (7,7)`);
    accepted(await context.endpoint.get(machineId), `Get ${machineId} after a fenced call`);
    for (const states of [[], ['IDLE']] as const) {
      const { machines } = await listed(context, { states });
      ensure(
        machines.some(({ id }) => id === machineId),
        () => `List(${states.join()}) after a fenced call: ${machineId} is missing`,
      );
    }
  }
  await expectState(context, machineId, 'IDLE');
}

async function emptyTokenBypasses(context: CheckContext): Promise<void> {
  const [first = '', second = ''] = await pickN(context, 2);
  const { endpoint } = context;
  for (const [machineId, what] of [
    [first, 'Create'],
    [first, 'Create again'],
    [second, 'Create of another machine'],
  ] as const) {
    acknowledged(await endpoint.create({ machineId }), `unfenced ${what} ${machineId}`);
    await mustReach(context, machineId, 'IDLE');
  }
  const shardId = uniqueShardId(context, 'bypass');
  const first00 = await fencedCreate(context, first, token(shardId, 0n, 0n));
  acknowledged(first00, `first token (0,0) of ${shardId} on ${first} after unfenced calls`);
  const marked = await fencedCreate(context, first, token(shardId, 5n, 5n));
  acknowledged(marked, `Create ${first} with (5,5)`);
  acknowledged(
    await endpoint.create({ machineId: first }),
    `unfenced Create ${first} after a mark of (5,5)`,
  );
  await release(context, first, second);
}

async function randomStream(context: CheckContext, machineId: string): Promise<void> {
  const shardId = uniqueShardId(context, 'stream');
  const oracle = new PairOracle();
  let acceptedCount = 0;
  for (let step = 0; step < RANDOM_STEPS; step++) {
    const { mark } = oracle;
    const stamp = nearMark(context.random, mark);
    const isAccepted = oracle.accepts(stamp);
    if (isAccepted) acceptedCount++;
    await probe(context, machineId, token(shardId, stamp.epoch, stamp.sequence), {
      isAccepted,
      mark: mark && token(shardId, mark.epoch, mark.sequence),
    });
  }
  ensure(acceptedCount > 0, 'the random stream contained no acceptable token');
}

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

export const markChecks: readonly Check[] = [
  defineCheck('B303', 'The fence', onIdle(lexicographic)),
  defineCheck('B305', 'The fence', onIdle(readsNeverFence)),
  defineCheck('B308', 'The fence', emptyTokenBypasses),
  defineCheck('B312', 'The fence', onIdle(randomStream)),
  defineCheck('B302', 'The fence', isolatedMarks),
  defineCheck('B212', 'The fence', onIdle(int64MaxToken)),
];

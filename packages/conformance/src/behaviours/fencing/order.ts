// B303, B305, B308, B312: the order of tokens on one pair, and what is not fenced at all.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { accepted, acknowledged, ensure, fenced } from '../../harness/expect.ts';
import { fencedCreate, token, uniqueShardId } from '../../harness/fencing.ts';
import { listed } from '../../harness/inventory.ts';
import { pickN } from '../../harness/pick.ts';
import { expectState, mustReach } from '../../harness/reach.ts';
import { onIdle, release } from '../../harness/walk.ts';
import { nearMark, PairOracle } from './oracle.ts';
import { no, probe, runScript, yes } from './stream.ts';

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

export const orderChecks: readonly Check[] = [
  defineCheck('B303', 'The fence', onIdle(lexicographic)),
  defineCheck('B305', 'The fence', onIdle(readsNeverFence)),
  defineCheck('B308', 'The fence', emptyTokenBypasses),
  defineCheck('B312', 'The fence', onIdle(randomStream)),
];

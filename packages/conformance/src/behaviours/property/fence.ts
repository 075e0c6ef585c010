// B1201, B1204: random streams of tokens against the fencing oracle. The seed is the check's own,
// so a finding replays with `--seed`.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { ensure } from '../../harness/expect.ts';
import { token, uniqueShardId } from '../../harness/fencing.ts';
import { onIdle, release, walkNToIdle } from '../../harness/walk.ts';
import { biasedToMark, PairOracle } from '../fencing/oracle.ts';
import { probe } from '../fencing/marks.ts';

const PAIR_STEPS = 240;
const GRID_STEPS = 200;
const SHARDS = 3;
const MACHINES = 4;

async function onePair(context: CheckContext, machineId: string): Promise<void> {
  const pair = { machineId, shardId: uniqueShardId(context, 'oracle'), oracle: new PairOracle() };
  for (let step = 0; step < PAIR_STEPS; step++) await randomProbe(context, pair);
}

async function grid(context: CheckContext): Promise<void> {
  const ids = await walkNToIdle(context, MACHINES);
  const shards = Array.from({ length: SHARDS }, (_, at) => uniqueShardId(context, `grid-${at}`));
  const pairs = shards.flatMap((shardId) =>
    ids.map((machineId) => ({ machineId, shardId, oracle: new PairOracle() })),
  );
  for (let step = 0; step < GRID_STEPS; step++) {
    const pair = pairs[context.random.below(pairs.length)];
    if (pair !== undefined) await randomProbe(context, pair);
  }
  const fresh = token(uniqueShardId(context, 'grid-fresh'), 1n, 1n);
  for (const machineId of ids) {
    await probe(context, machineId, fresh, { isAccepted: true, mark: undefined });
  }
  ensure(pairs.length === SHARDS * MACHINES, 'fewer machines than the grid needs');
  await release(context, ...ids);
}

interface Pair {
  readonly machineId: string;
  readonly shardId: string;
  readonly oracle: PairOracle;
}

async function randomProbe(
  context: CheckContext,
  { machineId, shardId, oracle }: Pair,
): Promise<void> {
  const { mark } = oracle;
  const stamp = biasedToMark(context.random, mark);
  const isAccepted = oracle.accepts(stamp);
  await probe(context, machineId, token(shardId, stamp.epoch, stamp.sequence), {
    isAccepted,
    mark: mark && token(shardId, mark.epoch, mark.sequence),
  });
}

export const fencePropertyChecks: readonly Check[] = [
  defineCheck('B1201', 'The fence', onIdle(onePair)),
  defineCheck('B1204', 'The fence', grid),
];

// Proves the fence (provider-contract §6): per (shard, machine), strictly newer, before existence and
// replay, advanced whatever becomes of the operation, durable, and never applied to reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { World } from './world.ts';

type Token = readonly [shardId: string, shardEpoch: bigint, sequenceNumber: bigint];

const FP = 'FAILED_PRECONDITION';
const MAX = 2n ** 63n - 1n;

function fields([shardId, shardEpoch, sequenceNumber]: Token): {
  shardId: string;
  shardEpoch: bigint;
  sequenceNumber: bigint;
} {
  return { shardId, shardEpoch, sequenceNumber };
}

function create(world: World, machineId: string, token: Token): Promise<string> {
  return world.codeOf(world.client.create({ machineId, ...fields(token) }));
}

test('tokens on one pair are ordered by epoch, then sequence', async () => {
  const world = await new World().start();
  const stream: readonly (readonly [bigint, bigint, string])[] = [
    [2n, 5n, 'OK'],
    [2n, 5n, FP],
    [2n, 4n, FP],
    [1n, 99_999n, FP],
    [2n, 6n, 'OK'],
    [3n, 0n, 'OK'],
    [2n, 999_999n, FP],
    [10n, 7n, 'OK'],
    [MAX, MAX - 1n, 'OK'],
    [MAX, MAX - 1n, FP],
    [MAX - 1n, MAX, FP],
    [MAX, MAX, 'OK'],
    [MAX, MAX, FP],
  ];
  for (const [epoch, sequence, expected] of stream) {
    assert.equal(
      await create(world, 'm-0', ['s', epoch, sequence]),
      expected,
      `${epoch}/${sequence}`,
    );
  }
});

test('marks of other machines and other shards never interact', async () => {
  const world = await new World().start();
  assert.equal(await create(world, 'm-0', ['s', 5n, 30n]), 'OK');
  assert.equal(await create(world, 'm-1', ['s', 5n, 7n]), 'OK');
  assert.equal(await create(world, 'm-1', ['s', 5n, 7n]), FP);
  assert.equal(await create(world, 'm-0', ['s', 5n, 30n]), FP);
  assert.equal(await create(world, 'm-0', ['t', 1n, 1n]), 'OK');
  assert.equal(
    await create(world, 'm-0', ['', 1n, 1n]),
    'OK',
    'only an entirely empty token bypasses',
  );
  assert.equal(await create(world, 'm-0', ['', 1n, 1n]), FP);
});

test('an empty token bypasses and writes no mark', async () => {
  const world = await new World().start();
  for (let i = 0; i < 3; i++) assert.equal(await create(world, 'm-0', ['', 0n, 0n]), 'OK');
  assert.ok(!world.store.kept.some(({ kind }) => kind === 'fence'));
});

test('first contact is accepted whatever its value', async () => {
  const world = await new World().start();
  assert.equal(await create(world, 'm-0', ['s', 0n, 0n]), 'OK');
  assert.equal(await create(world, 'm-0', ['s', 0n, 0n]), FP);
});

test('the fence comes before existence, position and replay, and moves on whatever follows', async () => {
  const world = await new World().start();
  assert.equal(await create(world, 'ghost', ['s', 5n, 5n]), 'NOT_FOUND');
  assert.equal(await create(world, 'ghost', ['s', 1n, 1n]), FP);
  assert.equal(await create(world, 'ghost', ['s', 9n, 9n]), 'NOT_FOUND');
  const drain = world.client.drain({ machineId: 'm-0', ...fields(['s', 5n, 5n]) });
  assert.equal(await world.codeOf(drain), 'INTERNAL');
  assert.equal(await create(world, 'm-0', ['s', 5n, 4n]), FP);
  assert.equal(await create(world, 'm-0', ['s', 5n, 6n]), 'OK');
  const zombie = create(world, 'm-0', ['s', 5n, 6n]);
  assert.equal(await zombie, FP, 'a zombie gets no cached operation id');
});

test('marks survive a crash, and no mark becomes global by it', async () => {
  const world = await new World().start();
  await create(world, 'm-0', ['s', 3n, 7n]);
  await create(world, 'ghost', ['s', 4n, 1n]);
  await create(world, 'other ghost', ['s', -3n, -7n]);
  world.crash();
  await world.start();
  assert.equal(await create(world, 'other ghost', ['s', -3n, -7n]), FP);
  assert.equal(await create(world, 'other ghost', ['s', -3n, -6n]), 'NOT_FOUND');
  assert.equal(await create(world, 'm-0', ['s', 3n, 7n]), FP);
  assert.equal(await create(world, 'm-0', ['s', 3n, 8n]), 'OK');
  assert.equal(await create(world, 'ghost', ['s', 4n, 1n]), FP);
  assert.equal(await create(world, 'm-1', ['s', 1n, 1n]), 'OK');
});

test('reads never fence, and a fenced call changes and bumps nothing', async () => {
  const world = await new World().start();
  await create(world, 'm-0', ['s', 7n, 7n]);
  await world.run(1_000);
  const before = await world.settle(world.client.list({}));
  const commits = world.store.commitCount;
  for (let i = 0n; i < 4n; i++) assert.equal(await create(world, 'm-0', ['s', 1n, i]), FP);
  assert.deepEqual(await world.settle(world.client.list({})), before);
  assert.equal(world.store.commitCount, commits);
});

test('any stream of tokens is judged as by the naive rule', async () => {
  const token = fc.tuple(fc.bigInt(-2n, 2n), fc.bigInt(-2n, 2n));
  await fc.assert(
    fc.asyncProperty(fc.array(token, { maxLength: 30 }), async (stream) => {
      const world = await new World().start();
      let mark: readonly [bigint, bigint] | undefined;
      for (const [epoch, sequence] of stream) {
        const isNewer =
          mark === undefined || epoch > mark[0] || (epoch === mark[0] && sequence > mark[1]);
        const code = await create(world, 'ghost', ['s', epoch, sequence]);
        assert.equal(code, isNewer ? 'NOT_FOUND' : FP);
        if (isNewer) mark = [epoch, sequence];
      }
    }),
    { numRuns: 60 },
  );
});

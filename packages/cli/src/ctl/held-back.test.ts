// Proves what records and explain print about actions that rails held back, against a real shard
// under virtual time whose rails are changed by the same command line.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { goldenScript } from './testing/golden.ts';
import { RealShards } from './testing/real-shard.ts';

const world = new RealShards();
world.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
await world.startShard('shard-0', 4);
await world.connect('blue', 'shard-0', 16, 1_000);
await world.time.runFor(20_000);
const rails = ['rails', '--shard=shard-0', '--reclaim-cap-fraction=0.05', '--reason=one by one'];
assert.equal((await world.run(rails)).code, 0);
await world.connect('blue', 'shard-0', 4, 1_000);
await world.time.runFor(1_000);
after(() => world.stop());

goldenScript(new URL('./testdata/held-back.txt', import.meta.url), (argv) => world.run(argv), 5);

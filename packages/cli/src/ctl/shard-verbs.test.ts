// Proves what the verbs that ask shards print, against real shards under virtual time, and that one
// shard that is down hides nothing of the others.

import { after } from 'node:test';
import { goldenScript } from './testing/golden.ts';
import { RealShards } from './testing/real-shard.ts';

const world = new RealShards();
world.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
await world.startShard('shard-0', 3);
await world.startShard('shard-1', 1);
world.registered.push({ shardId: 'shard-2', address: 'shard-2:7780' });
await world.connect('blue', 'shard-0', 8, 1_000);
await world.connect('red', 'shard-1', 40, 10);
await world.time.runFor(20_000);
after(() => world.stop());

goldenScript(new URL('./testdata/shards.txt', import.meta.url), (argv) => world.run(argv), 50);

// Proves what an administrator sees of machines that never join and how they are tried again, against
// a real shard under virtual time whose nodes never join, beside one without the rail.

import { after } from 'node:test';
import { goldenScript } from './testing/golden.ts';
import { RealShards } from './testing/real-shard.ts';

const world = new RealShards();
world.startCoordinator([
  { clusterId: 'blue', shardId: 'shard-0' },
  { clusterId: 'red', shardId: 'shard-0' },
]);
const joinFailure = 'kubelet: no route to the API server';
await world.startShard('shard-0', 30, { hasConfigureBrake: true, joinFailure });
await world.startShard('shard-1', 1);
await world.connect('blue', 'shard-0', 4, 1_000);
await world.connect('red', 'shard-0', 4, 10);
await world.time.runFor(45_000);
after(() => world.stop());

goldenScript(new URL('./testdata/brakes.txt', import.meta.url), (argv) => world.run(argv), 25);

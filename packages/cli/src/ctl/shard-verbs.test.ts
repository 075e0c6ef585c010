// Proves what the verbs that ask shards print, against real shards under virtual time: that one shard
// that is down hides nothing of the others, what records and explain say about actions that rails held
// back, and what an administrator sees of machines that never join and how they are tried again.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { goldenScript } from './testing/golden.ts';
import { RealShards } from './testing/real-shard.ts';

/** The script runs in its world when the file is loaded: every world stands before the first script. */
function scriptIn(world: RealShards, name: string, minSteps: number): void {
  after(() => world.stop());
  const file = new URL(`./testdata/${name}.txt`, import.meta.url);
  goldenScript(file, (argv) => world.run(argv), minSteps);
}

const oneDown = new RealShards();
oneDown.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
await oneDown.startShard('shard-0', 3);
await oneDown.startShard('shard-1', 1);
oneDown.registered.push({ shardId: 'shard-2', address: 'shard-2:7780' });
await oneDown.connect('blue', 'shard-0', 8, 1_000);
await oneDown.connect('red', 'shard-1', 40, 10);
await oneDown.time.runFor(20_000);
await oneDown.reportPhantoms('blue', ['shard-0-m0', 'shard-0-m1', 'of-another-cluster']);

/** The rails are changed by the same command line. */
const heldBack = new RealShards();
heldBack.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
await heldBack.startShard('shard-0', 4);
await heldBack.connect('blue', 'shard-0', 16, 1_000);
await heldBack.time.runFor(20_000);
const rails = ['rails', '--shard=shard-0', '--reclaim-cap-fraction=0.05', '--reason=one by one'];
assert.equal((await heldBack.run(rails)).code, 0);
await heldBack.connect('blue', 'shard-0', 4, 1_000);
await heldBack.time.runFor(1_000);

/** Nodes of the first shard never join; the second runs without the rail. */
const braked = new RealShards();
braked.startCoordinator([
  { clusterId: 'blue', shardId: 'shard-0' },
  { clusterId: 'red', shardId: 'shard-0' },
]);
const joinFailure = 'kubelet: no route to the API server';
await braked.startShard('shard-0', 30, { hasConfigureBrake: true, joinFailure });
await braked.startShard('shard-1', 1);
await braked.connect('blue', 'shard-0', 4, 1_000);
await braked.connect('red', 'shard-0', 4, 10);
await braked.time.runFor(45_000);

scriptIn(oneDown, 'shards', 50);
scriptIn(heldBack, 'held-back', 5);
scriptIn(braked, 'brakes', 25);

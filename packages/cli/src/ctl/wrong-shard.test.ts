// Proves on plaintext that a shard is asked only when it is the one that was named: where another one
// answers at the registered address, nothing is paused or read, the error says so by its code, and
// doctor still finds it.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { RealShards } from './testing/real-shard.ts';

const world = new RealShards();
world.startCoordinator([]);
await world.startShard('shard-0', 1);
// As two shards that advertise `:7780` look from the host of the first.
world.registered.push({ shardId: 'shard-1', address: 'shard-0:7780' });
await world.time.runFor(5_000);
after(() => world.stop());

const MISMATCH =
  /shard_identity_mismatch: at the address of shard shard-1 at shard-0:7780 answers shard shard-0; nothing was asked of it/;

async function isPaused(): Promise<boolean> {
  const { output } = await world.run(['get', 'shards', '--shard=shard-0', '-o', 'json']);
  return /"paused": ?true/.test(output);
}

test('a pause of the shard that is not there pauses nobody and fails', async () => {
  const { code, output, error } = await world.run([
    'pause',
    '--shard=shard-1',
    '--reason=incident',
  ]);
  assert.equal(code, 1, output);
  assert.match(error, MISMATCH);
  assert.doesNotMatch(output, /paused shard/);
  assert.equal(await isPaused(), false);
});

test('reading is refused too', async () => {
  const { code, error } = await world.run(['inspect-needs', '--shard=shard-1']);
  assert.equal(code, 1);
  assert.match(error, MISMATCH);
});

test('all of them: the one that answers as itself is paused, the other is named', async () => {
  const { code, output, error } = await world.run(['pause', '--all', '--reason=incident']);
  assert.equal(code, 3, 'some answered');
  assert.match(output, /^paused shard shard-0 /);
  assert.doesNotMatch(output, /shard-1/);
  assert.match(error, MISMATCH);
  assert.equal(await isPaused(), true);
});

test('doctor says which shard answers there', async () => {
  const { code, output } = await world.run(['doctor']);
  assert.equal(code, 2);
  assert.match(output, /error +shard shard-1: at its address answers shard-0 .*\[shard-identity\]/);
});

test('an address needs no name', async () => {
  const { code, output } = await world.run([
    'resume',
    '--shard-addr=shard-0:7780',
    '--reason=over',
  ]);
  assert.equal(code, 0, output);
});

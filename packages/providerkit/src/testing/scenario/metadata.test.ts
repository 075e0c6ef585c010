// Proves that shard_metadata is stored and echoed byte for byte on acks, Get and List, survives a
// restart, is replaced as a whole and cleared with its binding, and is nobody's alias.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromMap, toMap } from '@bigfleet/wire';
import fc from 'fast-check';
import { binding, World } from './world.ts';

const hostile = new Map([
  ['__proto__', 'kept'],
  ['constructor', ''],
  ['', 'empty key'],
  ['nul\0inside', '\0'],
  ['c1\u0085', '\u0001\u001f\u007f'],
  ['nfd e\u0301', 'nfc \u00e9'],
  ['😀', '𝒳 '],
  [' trailing ', '\ttab\n'],
]);

test('a hostile map comes back byte for byte, also after a crash', async () => {
  const world = await new World().start();
  await world.toIdle('m-0');
  const sent = { ...binding('m-0'), shardMetadata: fromMap(hostile) };
  const ack = await world.settle(world.client.configure(sent));
  assert.deepEqual(toMap(ack.machine?.shardMetadata ?? {}), hostile);
  await world.run(1_000);
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(toMap((await world.get('m-0')).shardMetadata), hostile);
    const { machines } = await world.settle(world.client.list({}));
    const listed = machines.find(({ id }) => id === 'm-0');
    assert.deepEqual(toMap(listed?.shardMetadata ?? {}), hostile);
    world.crash();
    await world.start();
  }
});

test('any map round-trips; the next binding carries nothing of the last', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const maps = fc.array(fc.dictionary(text, text, { maxKeys: 6 }), { minLength: 2, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(maps, async (bindings) => {
      const world = await new World().start();
      await world.toIdle('m-0');
      for (const shardMetadata of bindings) {
        await world.settle(world.client.configure({ ...binding('m-0'), shardMetadata }));
        await world.run(100);
        assert.deepEqual(toMap((await world.get('m-0')).shardMetadata), toMap(shardMetadata));
        await world.settle(world.client.drain({ machineId: 'm-0' }));
        await world.run(100);
        assert.deepEqual((await world.get('m-0')).shardMetadata, {});
      }
    }),
    { numRuns: 20 },
  );
});

test('a backend that edits its copy of a machine edits nothing else', async () => {
  const world = await new World().start();
  await world.toIdle('m-0');
  await world.toIdle('m-1');
  world.backend.configureInstance = async ({ machine }) => {
    for (const map of [machine.labels, machine.shardMetadata, machine.resources]) {
      (map as Map<string, string>).set('edited', '1');
    }
  };
  await world.settle(world.client.configure(binding('m-0')));
  await world.run(100);
  for (const id of ['m-0', 'm-1']) {
    const { labels, shardMetadata, resources } = await world.get(id);
    assert.deepEqual(labels, { pool: 'default' });
    assert.deepEqual(resources?.resources, { cpu: '4' });
    assert.equal('edited' in shardMetadata, false);
  }
});

test('a replay with another cluster answers with the existing binding', async () => {
  const world = await new World().start();
  await world.toConfigured('m-0');
  const first = await world.settle(world.client.configure(binding('m-0')));
  const other = { ...binding('m-0'), clusterId: 'b', shardMetadata: { other: '1' } };
  const second = await world.settle(world.client.configure(other));
  assert.equal(second.operationId, first.operationId);
  assert.equal(second.machine?.cluster, 'a');
  assert.deepEqual(second.machine?.shardMetadata, binding('m-0').shardMetadata);
});

test('too much metadata is refused whole and leaves the machine unbound', async () => {
  const world = await new World({ options: { maxShardMetadataBytes: 1_000 } }).start();
  await world.toIdle('m-0');
  const before = await world.get('m-0');
  const shardMetadata = { k: 'v'.repeat(1_000) };
  const code = await world.codeOf(world.client.configure({ ...binding('m-0'), shardMetadata }));
  assert.equal(code, 'INVALID_ARGUMENT');
  assert.deepEqual(await world.get('m-0'), before);
});

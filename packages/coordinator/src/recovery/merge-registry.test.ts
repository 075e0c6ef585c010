// Proves the merge of registry entries after a restore (coordinator §10.5): an entry comes back for
// exactly the shards that hold it, and another address is a dispute.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registerProvider } from '../registry/providers.ts';
import { answer, restored, settle } from '../desk/testing/restored-world.ts';

describe('the merge of registry entries', () => {
  const target = { name: 'p', address: 'p:1', region: 'r', shared: true };

  it('brings an entry back for exactly the shards that hold it', async () => {
    const world = await restored();
    await answer(world, 'b', { heldProviders: [target] });
    await answer(world, 'a', { heldProviders: [target] });
    await answer(world, 'c');
    await settle(world);
    const entry = world.ledger.state.provider('p');
    assert.deepEqual([entry?.address, entry?.region, entry?.shards], ['p:1', 'r', ['a', 'b']]);
    assert.equal(world.desk.recovery.isOver(), true);
  });

  it('leaves an entry that reaches the shard, and widens one that does not', async () => {
    for (const [shards, expected] of [
      [[], []],
      [['c'], ['b', 'c']],
    ] as const) {
      const world = await restored((old) => {
        const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 7, shards };
        return old.apply({ kind: 'UpsertProvider', entry });
      });
      await answer(world, 'b', { heldProviders: [target] });
      await settle(world);
      const entry = world.ledger.state.provider('p');
      assert.deepEqual([entry?.shards, entry?.declaredQuota], [[...expected], 7]);
    }
  });

  it('another address is a dispute, which registering the entry decides', async () => {
    const world = await restored((old) => {
      const entry = { name: 'p', address: 'old:1', region: 'r', declaredQuota: 0, shards: [] };
      return old.apply({ kind: 'UpsertProvider', entry });
    });
    await answer(world, 'b', { heldProviders: [target] });
    await answer(world, 'a');
    await answer(world, 'c');
    await settle(world);
    assert.equal(world.ledger.state.provider('p')?.address, 'old:1');
    assert.equal(world.observer.count('ownership-conflict'), 1);
    assert.equal(world.desk.recovery.isOver(), false);
    const { ledger, desk } = world;
    const operations = { ...desk, ledger };
    const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0, shards: [] };
    await world.run(registerProvider(operations, entry));
    assert.equal(desk.recovery.isOver(), true);
  });
});

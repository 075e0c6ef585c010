// Proves the merge of homes (coordinator §10.5): who gets the machines of a provider outside of all
// domains.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settleDispute } from '../registry/settle-dispute.ts';
import { answer, dials, restored, settle } from '../desk/testing/restored-world.ts';

const FORMS = [
  { build: 'this build', acts: { heldHomes: ['p:1'] } },
  { build: 'an older one', acts: { heldDomains: [{ topologyKey: '', topologyValue: 'p:1' }] } },
];

for (const { build, acts } of FORMS)
  describe(`the merge of homes, told by shards of ${build}`, () => {
    it('follows a home that the ledger does not know, once its home there has answered', async () => {
      const world = await restored();
      await answer(world, 'b', acts);
      await settle(world);
      assert.equal(world.ledger.state.home('p:1')?.shardId, 'a', 'a may act as home');
      for (const id of ['a', 'c']) await answer(world, id);
      await settle(world);
      assert.equal(world.ledger.state.home('p:1')?.shardId, 'b');
      assert.equal(world.desk.recovery.isOver(), true);
      const { assignment } = await world.report('a', dials('p:1'));
      assert.deepEqual([assignment?.complete, assignment?.ownsUnmatchedProviders], [true, []]);
    });

    it('does not believe a shard that does not dial the provider any more', async () => {
      const world = await restored();
      await answer(world, 'c', acts);
      for (const id of ['a', 'b']) await answer(world, id);
      await settle(world);
      assert.equal(world.ledger.state.home('p:1')?.shardId, 'a');
      assert.equal(world.desk.recovery.isOver(), true);
    });

    for (const keeper of ['a', 'b']) {
      it(`claimed by two, the operator decides for ${keeper}`, async () => {
        const world = await restored();
        for (const id of ['a', 'b']) await answer(world, id, acts);
        await answer(world, 'c');
        await settle(world);
        assert.equal(world.ledger.state.home('p:1')?.shardId, 'a');
        assert.deepEqual(world.desk.recovery.recoveringProviders(), new Set(['p:1']));
        const { ledger, desk } = world;
        const operations = { ledger, recovery: desk.recovery };
        const settled = await world.run(settleDispute(operations, 'home p:1', keeper));
        assert.equal(settled.kind, 'done');
        assert.equal(world.ledger.state.home('p:1')?.shardId, keeper);
        assert.equal(desk.recovery.isOver(), true);
      });
    }
  });

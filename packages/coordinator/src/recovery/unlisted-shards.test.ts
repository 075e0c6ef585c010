// Proves recovery when the restored ledger and the fleet list different shards (coordinator §10.5):
// one that was removed since the snapshot, and one that it does not know.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { removeShard } from '../registry/remove-shard.ts';
import type { ReportInit, ReportWorld } from '../desk/testing/report-world.ts';
import { waitText } from './waits.ts';
import {
  answer,
  dials,
  held,
  owners,
  restored,
  settle,
  zone,
} from '../desk/testing/restored-world.ts';

describe('a shard that was removed since the snapshot and is registered again', () => {
  /** `gone` was home of p:1 and had z; both are b's by now. */
  async function withGone(): Promise<ReportWorld> {
    const world = await restored(async (old) => {
      await old.report('gone', dials('p:1'));
      await old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'gone' });
      const from = old.ledger.state.home('p:1')?.shardId ?? '';
      const home = {
        kind: 'SetProviderHome',
        providerAddress: 'p:1',
        shard: 'gone',
        from,
      } as const;
      await old.apply(home);
    });
    await answer(world, 'b', { heldDomains: [held('z')], heldHomes: ['p:1'] });
    for (const id of ['a', 'c']) await answer(world, id);
    await settle(world);
    return world;
  }

  const isB = (world: ReportWorld): void => {
    assert.deepEqual(owners(world), { z: 'b' });
    assert.equal(world.ledger.state.home('p:1')?.shardId, 'b');
    assert.equal(world.desk.recovery.isOver(), true);
    assert.equal(world.observer.count('ownership-conflict'), 0);
  };

  it('is waited for, and removed again: what it had goes to whoever holds it', async () => {
    const world = await withGone();
    const { ledger, desk, time } = world;
    assert.deepEqual(owners(world), { z: 'gone' });
    assert.equal(desk.recovery.isOver(), false);
    const { soft, recovery, forgetShard: onRemoved } = desk;
    const options = { ledger, soft, recovery, onRemoved, nowMs: () => time.nowMs };
    await world.run(removeShard(options, 'gone', true));
    await settle(world);
    isB(world);
  });

  it('or another of its name answers, and inherits nothing of it', async () => {
    const world = await withGone();
    await answer(world, 'gone', dials('p:1'));
    await settle(world);
    isB(world);
    const { assignment } = await world.report('gone', dials('p:1'));
    assert.deepEqual(
      [assignment?.complete, assignment?.domains, assignment?.ownsUnmatchedProviders],
      [true, [], []],
    );
  });
});

const FORMS = [
  { build: 'this build', names: (shardId: string): ReportInit => ({ knownShards: [shardId] }) },
  {
    build: 'an older one',
    names: (shardId: string): ReportInit => ({
      heldDomains: [{ topologyKey: '', topologyValue: '', shardId }],
    }),
  },
];

for (const { build, names } of FORMS)
  describe(`a shard that the restored ledger does not know, named by one of ${build}`, () => {
    async function named(): Promise<ReportWorld> {
      const world = await restored();
      await answer(world, 'a', names('late'));
      for (const id of ['b', 'c']) await answer(world, id);
      await settle(world);
      return world;
    }

    const remove = (world: ReportWorld, isForced: boolean): Promise<string> => {
      const { ledger, desk, time } = world;
      const { soft, recovery, forgetShard: onRemoved } = desk;
      const options = { ledger, soft, recovery, onRemoved, nowMs: () => time.nowMs };
      const outcome = world.run(removeShard(options, 'late', isForced));
      return outcome.then((ended) => (ended.kind === 'done' ? 'done' : ended.status));
    };

    it('is waited for, by the providers of whoever names it only', async () => {
      const world = await named();
      const { recovery } = world.desk;
      assert.equal(recovery.isOver(), false);
      assert.deepEqual(recovery.recoveringProviders(), new Set(['p:1']));
      assert.deepEqual(
        recovery.waits().map(({ wait, addresses }) => [waitText(wait), addresses]),
        [['waits for shard late, unknown to the ledger and named by a', ['p:1']]],
      );
      const { assignment } = await world.report('a', dials('p:1'));
      assert.equal(assignment?.complete, false);
      assert.match(world.logLines.lines.join('\n'), /recovery waits for an operator/);
    });

    it('ends the wait by its own answer', async () => {
      const world = await named();
      await answer(world, 'late', { ...dials('p:1'), heldDomains: [held('z')] });
      await settle(world);
      assert.deepEqual(owners(world), { z: 'late' });
      assert.equal(world.desk.recovery.isOver(), true);
    });

    it('or an operator does, by force only', async () => {
      const world = await named();
      assert.equal(await remove(world, false), 'ABORTED');
      assert.equal(world.desk.recovery.isOver(), false);
      assert.equal(await remove(world, true), 'done');
      assert.equal(world.desk.recovery.isOver(), true);
      assert.equal(await remove(world, true), 'NOT_FOUND');
    });

    it('is not missed when it was removed in this leadership, whoever still names it', async () => {
      const world = await restored((old) => old.report('late', dials('p:1')));
      await answer(world, 'a', names('late'));
      for (const id of ['b', 'c']) await answer(world, id);
      await settle(world);
      assert.equal(await remove(world, true), 'done');
      await answer(world, 'a', names('late'));
      assert.equal(world.desk.recovery.isOver(), true);
    });
  });

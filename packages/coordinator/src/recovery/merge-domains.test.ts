// Proves the merge of domains after a restore (coordinator §10.5): what the ledger lost comes back,
// a move that it does not know is followed, what is being given up stays its keeper's, and a dispute
// keeps its provider in recovery.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignDomain } from '../registry/domains.ts';
import {
  answer,
  dials,
  held,
  owners,
  restored,
  settle,
  zone,
} from '../desk/testing/restored-world.ts';

describe('the merge of domains', () => {
  it('re-inserts what the ledger lost and leaves what it knows', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('known'), shard: 'a' }),
    );
    await answer(world, 'a', { heldDomains: [held('known'), held('lost')] });
    await settle(world);
    assert.deepEqual(owners(world), { known: 'a', lost: 'a' });
    assert.equal(world.observer.count('ownership-conflict'), 0);
  });

  it('follows a move that the ledger does not know, once its owner there has answered', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'a' }),
    );
    await answer(world, 'b', { heldDomains: [held('z')] });
    await settle(world);
    assert.deepEqual(owners(world), { z: 'a' }, 'a may hold it');
    await answer(world, 'a');
    await settle(world);
    assert.deepEqual(owners(world), { z: 'b' });
    assert.equal(world.observer.count('ownership-conflict'), 0);
  });

  it('keeps a domain claimed by two with the owner in the ledger, and its provider in recovery', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'a' }),
    );
    await answer(world, 'a', { heldDomains: [held('z')] });
    await answer(world, 'b', { heldDomains: [held('z')] });
    await answer(world, 'c');
    await settle(world);
    assert.deepEqual(owners(world), { z: 'a' });
    assert.equal(world.observer.count('ownership-conflict'), 1);
    assert.deepEqual(world.desk.recovery.recoveringProviders(), new Set(['p:1']));
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => world.desk.recovery.isRecovering(id)),
      [true, true, false],
    );
    assert.match(world.logLines.lines.join('\n'), /recovery waits for an operator/);
  });

  for (const [decision, expected] of [
    ['a', 'a'],
    ['b', 'b'],
  ] as const) {
    it(`lets the operator decide for ${decision}, and only between the claimants`, async () => {
      const world = await restored((old) =>
        old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'a' }),
      );
      for (const id of ['a', 'b']) await answer(world, id, { heldDomains: [held('z')] });
      await answer(world, 'c');
      await settle(world);
      const { ledger, desk } = world;
      const operations = { ledger, recovery: desk.recovery };
      const third = await world.run(assignDomain(operations, zone('z'), 'c'));
      assert.equal(third.kind === 'refused' && third.status, 'ABORTED');
      const done = await world.run(assignDomain(operations, zone('z'), decision));
      assert.equal(done.kind, 'done');
      assert.deepEqual(owners(world), { z: expected });
      assert.equal(desk.recovery.isOver(), true);
    });
  }

  it('ends a dispute when a claimant is removed or lets go', async () => {
    for (const way of ['removed', 'lets go'] as const) {
      const world = await restored((old) =>
        old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'a' }),
      );
      for (const id of ['a', 'b']) await answer(world, id, { heldDomains: [held('z')] });
      await answer(world, 'c');
      await settle(world);
      assert.equal(world.desk.recovery.isOver(), false);
      if (way === 'lets go') await answer(world, 'b', { heldDomains: [held('other')] });
      else {
        await world.apply({ kind: 'RemoveShard', id: 'b' });
        world.desk.forgetShard('b');
      }
      await settle(world);
      assert.equal(world.desk.recovery.isOver(), true, way);
    }
  });

  it('takes in as releasing what a shard gives up and the ledger does not know', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('known'), shard: 'a' }),
    );
    await answer(world, 'a', { heldDomains: [held('known')] });
    await answer(world, 'b', { releasingDomains: [held('lost'), held('known')] });
    await answer(world, 'c');
    await settle(world);
    const { ledger, desk } = world;
    assert.equal(desk.recovery.isOver(), true);
    assert.deepEqual(owners(world), { known: 'a', lost: 'b' }, 'a row is left as it is');
    assert.equal(ledger.state.domain(zone('lost'))?.state, 'RELEASING');
    const home = await world.report('a', dials('p:1'));
    const foreign = home.assignment?.foreignDomains.map(({ topologyValue }) => topologyValue);
    assert.ok(foreign?.includes('lost'), 'not the home’s meanwhile');
    const applied = { ...dials('p:1'), assignmentRevision: BigInt(revisionOf(world)) };
    await world.report('b', { ...applied, releasingDomains: [held('lost')] });
    assert.ok(ledger.state.domain(zone('lost')) !== undefined, 'it still holds something');
    await world.report('b', applied);
    assert.equal(ledger.state.domain(zone('lost')), undefined);
  });

  it('what a shard held then says nothing about a domain that is assigned afterwards', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'b' }),
    );
    await answer(world, 'a');
    await answer(world, 'b', { heldDomains: [held('z')] });
    await answer(world, 'c');
    await settle(world);
    const { desk } = world;
    assert.equal(desk.recovery.isOver(), true);
    const domainsOf = async (): Promise<readonly string[] | undefined> => {
      const { assignment } = await world.report('b', dials('p:1'));
      return assignment?.domains.map(({ topologyValue }) => topologyValue);
    };
    assert.deepEqual(await domainsOf(), ['z'], 'it never let go of it');
    await world.apply({ kind: 'UnassignDomain', domain: zone('z') });
    await world.apply({ kind: 'DomainReleased', domain: zone('z'), shard: 'b' });
    await world.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'b' });
    assert.deepEqual(await domainsOf(), [], 'the home has not heard of it');
    await world.report('a', { ...dials('p:1'), assignmentRevision: BigInt(revisionOf(world)) });
    assert.deepEqual(await domainsOf(), ['z']);
  });
});

function revisionOf({ ledger }: Awaited<ReturnType<typeof restored>>): number {
  return ledger.state.meta.assignmentRevision;
}

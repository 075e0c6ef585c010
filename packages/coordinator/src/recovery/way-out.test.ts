// Proves how recovery ends (coordinator §10.5): per provider, not too early, and with assignments
// that leave everybody what they held.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answer,
  dials,
  held,
  owners,
  restored,
  settle,
  zone,
} from '../desk/testing/restored-world.ts';

describe('the way out', () => {
  it('is per provider: one unanswered shard keeps only what it dials in recovery', async () => {
    const world = await restored();
    await answer(world, 'a');
    await answer(world, 'b');
    await settle(world);
    assert.equal(world.desk.recovery.recoveringProviders(), 'all', 'c may hold anything');
    await world.report('c', dials('p:2'));
    assert.deepEqual(world.desk.recovery.recoveringProviders(), new Set(['p:2']));
    const ack = await world.report('a', dials('p:1'));
    assert.deepEqual([ack.sendHeld, ack.assignment?.complete], [false, true]);
    assert.equal((await world.report('c', dials('p:2'))).assignment?.complete, false);
  });

  it('opens when the silent shard is removed', async () => {
    const world = await restored();
    await answer(world, 'a');
    await answer(world, 'b');
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), false);
    await world.apply({ kind: 'RemoveShard', id: 'c' });
    world.desk.forgetShard('c');
    assert.equal(world.desk.recovery.isOver(), true);
  });

  it('does not open before shards that the snapshot does not know had time to report', async () => {
    const world = await restored();
    for (const id of ['a', 'b', 'c']) await answer(world, id);
    assert.equal(world.desk.recovery.isOver(), false);
    assert.equal(world.desk.recovery.recoveringProviders(), 'all');
    await answer(world, 'late', { ...dials('p:1'), heldDomains: [held('late')] });
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), true);
    assert.deepEqual(owners(world), { late: 'late' });
  });

  it('is found again after a commit that failed', async () => {
    const world = await restored();
    for (const id of ['b', 'c']) await answer(world, id);
    world.store.commitFaults.push('failed', 'unknown-without-commit');
    await answer(world, 'a', { heldDomains: [held('z')] });
    await settle(world);
    assert.deepEqual(owners(world), { z: 'a' });
    assert.equal(world.desk.recovery.isOver(), true);
  });

  it('sends a complete assignment to a shard that acts on any revision of what was lost', async () => {
    const world = await restored();
    const current = BigInt(world.ledger.state.meta.assignmentRevision);
    for (const id of ['a', 'b', 'c']) await answer(world, id);
    await settle(world);
    const sent = async (assignmentRevision: bigint): Promise<boolean | undefined> =>
      (await world.report('a', { ...dials('p:1'), assignmentRevision })).assignment?.complete;
    // Far more than any ledger has counted, and each as often as it likes.
    for (const lost of [1n, 12n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n - 1n, 2n ** 32n - 1n]) {
      assert.equal(await sent(lost), true, `${lost}`);
    }
    assert.equal(await sent(current), undefined);
  });

  it('with a home row lost: whoever acts as home gets nothing complete before it is set anew', async () => {
    const world = await restored(async (old) => {
      await old.apply({ kind: 'RemoveShard', id: 'a' });
      old.desk.forgetShard('a');
    });
    assert.equal(world.ledger.state.home('p:1'), undefined);
    const shared = { name: 'p:1', address: 'p:1', shared: true, source: 'flag' };
    const adopted = ['x', 'y', 'z'].map((machineId) => {
      return { machineId, transferId: 't', peerShardId: 'b' };
    });
    const acts = { summary: { providers: [{ ...shared, totalMachines: 2 }] } };
    const adopts = { summary: { providers: [{ ...shared, totalMachines: 3 }] } };
    await answer(world, 'b', acts);
    await answer(world, 'a', { ...adopts, heldOverrides: adopted });
    await answer(world, 'c');
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), true);
    const early = await world.report('a', { ...dials('p:1'), ...adopts });
    assert.equal(early.assignment?.complete, false, 'it has more machines, but by overrides');
    world.store.commitFaults.push('failed');
    const failed = await world.report('b', { ...dials('p:1'), ...acts });
    assert.equal(failed.assignment?.complete, false);
    const { assignment } = await world.report('b', { ...dials('p:1'), ...acts });
    assert.deepEqual([assignment?.complete, assignment?.ownsUnmatchedProviders], [true, ['p:1']]);
  });

  it('leaves every shard what it held, in its first complete assignment', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'b' }),
    );
    await answer(world, 'b', { heldDomains: [held('z')] });
    for (const id of ['a', 'c']) await answer(world, id);
    await settle(world);
    const { assignment } = await world.report('b', dials('p:1'));
    assert.deepEqual([assignment?.complete, assignment?.domains.length], [true, 1]);
  });

  it('gives a domain that nobody held only after the home is known to have let go of it', async () => {
    const world = await restored((old) =>
      old.apply({ kind: 'AssignDomain', domain: zone('z'), shard: 'b' }),
    );
    for (const id of ['a', 'b', 'c']) await answer(world, id);
    await settle(world);
    const current = BigInt(world.ledger.state.meta.assignmentRevision);
    const early = await world.report('b', { ...dials('p:1'), assignmentRevision: current - 1n });
    assert.deepEqual([early.assignment?.complete, early.assignment?.domains], [true, []]);
    const told = await world.report('a', { ...dials('p:1'), assignmentRevision: current - 1n });
    assert.deepEqual(
      told.assignment?.foreignDomains.map(({ topologyValue }) => topologyValue),
      ['z', 'b', 'c'],
      'the domain, and who else is there',
    );
    await world.report('a', { ...dials('p:1'), assignmentRevision: current });
    const { assignment } = await world.report('b', dials('p:1'));
    assert.equal(assignment?.domains.length, 1);
  });
});

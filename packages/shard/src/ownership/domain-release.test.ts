// Proves that a domain changes hands without its machines having two owners: what runs there stays its
// keeper's until it is idle, over restarts too; nothing of the next owner enters; and once it is empty
// the ledger is asked whose it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { incoming, override, selector } from './testing/builders.ts';
import { fourCoresIn } from '../process/testing/owned-shard.ts';
import { HOME, OwnedWorld, SHARED, ZONE, zone } from '../process/testing/owned-world.ts';

test('a domain that is given up: idle ones go at once, running ones when they are idle', async () => {
  const world = new OwnedWorld();
  for (const id of ['busy', 'idle']) world.fake.addIdle(fourCoresIn('zone-a', id));
  const shard = await world.shard('s1');
  // Also home: the domain must not fall back to it while it is being released.
  await world.finish(
    shard.control.applyAssignment(incoming({ ...HOME, domains: [zone('zone-a')] })),
  );
  await shard.demand('blue', 4);
  await world.cycles(3);
  const [busy, idle] =
    world.fake.get('busy').cluster === 'blue' ? ['busy', 'idle'] : ['idle', 'busy'];
  await world.finish(shard.control.unassignDomain({ key: ZONE, value: 'zone-a' }));
  assert.equal(shard.stateOf(idle), undefined);
  assert.deepEqual(await world.releasing(shard), [zone('zone-a')]);
  await world.cycles(3);
  assert.equal(shard.stateOf(busy), State.Configured, 'it serves on');
  await shard.stop();
  const next = await world.shard('s1', { ...SHARED, before: shard });
  await next.demand('blue', 4);
  await world.cycles(2);
  assert.equal(next.stateOf(busy), State.Configured, 'and after a restart');
  assert.deepEqual(await world.releasing(next), [zone('zone-a')]);
  await next.demand('blue', 0);
  await world.cycles(4);
  assert.equal(next.stateOf(busy), undefined, 'idle at last: not ours any more');
  assert.deepEqual(await world.releasing(next), []);
  await world.cycles(2);
  assert.equal(next.stateOf(busy), undefined, 'nobody’s until the ledger says so');
  const { revision } = next.control;
  next.control.answeredWithoutAssignment();
  assert.equal(next.control.revision, revision - 1n, 'it asks whose it is now');
  await world.finish(next.control.applyAssignment(incoming({ ...HOME, revision: 2n })));
  await world.cycles();
  assert.equal(next.stateOf(busy), State.Idle, 'then the home’s');
  await next.stop();
});

test('a domain carved out of a home: held while a machine runs or is being made there', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'serves'));
  const home = await world.shard('s1');
  await world.finish(home.control.applyAssignment(incoming(HOME)));
  await home.demand('blue', 4);
  await world.cycles(3);
  assert.equal(home.stateOf('serves'), State.Configured);
  const carved = incoming({
    ...HOME,
    revision: 2n,
    foreignDomains: [zone('zone-a', 's2'), zone('zone-b', 's2')],
  });
  await world.finish(home.control.applyAssignment(carved));
  assert.deepEqual(await world.releasing(home), [zone('zone-a')]);
  await home.stop();
  const next = await world.shard('s1', { ...SHARED, before: home });
  await next.demand('blue', 4);
  await world.cycles(2);
  assert.equal(next.stateOf('serves'), State.Configured, 'its keeper after a restart too');
  assert.deepEqual(await world.releasing(next), [zone('zone-a')]);
  await next.demand('blue', 0);
  await world.cycles(4);
  assert.equal(next.stateOf('serves'), undefined, 'idle at last: the new owner’s');
  assert.deepEqual(await world.releasing(next), []);
  await next.stop();
});

test('what begins in a foreign domain while its assignment is written is held too', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'late'));
  const home = await world.shard('s1');
  await world.finish(home.control.applyAssignment(incoming(HOME)));
  await world.cycles(2);
  const foreignDomains = [zone('zone-a', 's2')];
  const applying = home.control.applyAssignment(
    incoming({ ...HOME, revision: 2n, foreignDomains }),
  );
  const { fleet } = home.shard.parts.core;
  fleet.setPending(fleet.inventory.slotOf('late'), 'in_flight');
  await world.finish(applying);
  assert.deepEqual(await world.releasing(home), [zone('zone-a')]);
  await home.stop();
});

test('what runs in a domain after it was called empty does not enter, whatever became of the report', async () => {
  const world = new OwnedWorld();
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming({ domains: [zone('zone-a')] })));
  await world.cycles();
  await world.finish(shard.control.unassignDomain({ key: ZONE, value: 'zone-a' }));
  assert.deepEqual(await world.releasing(shard), []);
  world.fake.addConfigured(fourCoresIn('zone-a', 'theirs'), 'green');
  await world.cycles(2);
  assert.equal(shard.stateOf('theirs'), undefined);
  await shard.stop();
  const next = await world.shard('s1', { ...SHARED, before: shard });
  await world.cycles(2);
  assert.equal(next.stateOf('theirs'), undefined, 'also after a restart');
  await next.stop();
});

test('a frozen machine that its new owner uses already holds no domain', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-b', 'given'));
  world.fake.addConfigured(fourCoresIn('zone-b', 'base'), 'green');
  const donor = await world.shard('s1');
  const adopted = [override('given', 't0')];
  const foreignDomains = [zone('zone-b', 's2')];
  await world.finish(donor.control.applyAssignment(incoming({ adopted, foreignDomains })));
  await world.cycles();
  const order = { transferId: 't1', toShardId: 's2', selector: selector() };
  await world.finish(donor.control.prepareTransfer(order));
  // Committed, and at work at its recipient, before the donor hears of it.
  world.fake.removeMachine('given');
  world.fake.addConfigured(fourCoresIn('zone-b', 'given'), 'green');
  await world.cycles();
  assert.equal(donor.stateOf('given'), State.Configured, 'listed until it hears');
  const after = incoming({ revision: 2n, foreignDomains, released: [override('given', 't1')] });
  await world.finish(donor.control.applyAssignment(after));
  await world.cycles(2);
  assert.deepEqual([donor.stateOf('given'), donor.stateOf('base')], [undefined, undefined]);
  assert.deepEqual(await world.releasing(donor), []);
  await donor.stop();
});

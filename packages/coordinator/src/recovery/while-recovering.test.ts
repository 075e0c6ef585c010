// Proves what a restored coordinator does while it recovers (coordinator §10.5): it asks, gives and
// takes nothing, and believes an empty answer only from a shard that was asked.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignDomain, unassignDomain } from '../registry/domains.ts';
import { type ReportInit, ReportWorld } from '../desk/testing/report-world.ts';
import { answer, dials, held, restored, settle, zone } from '../desk/testing/restored-world.ts';

describe('a ledger that was never restored', () => {
  it('does not recover', async () => {
    const world = await ReportWorld.open();
    const ack = await world.report('a', dials('p:1'));
    assert.equal(ack.sendHeld, false);
    assert.equal(ack.assignment?.complete, true);
    assert.equal(await world.desk.recoveryDriver.run(new AbortController().signal), 'over');
  });
});

describe('while recovering', () => {
  it('asks for what is held, and sends nothing that the shard does not hold', async () => {
    const world = await restored(async (old) => {
      await old.apply({ kind: 'AssignDomain', domain: zone('mine'), shard: 'a' });
      await old.apply({ kind: 'AssignDomain', domain: zone('moved'), shard: 'a' });
      const entry = { name: 'q', address: 'q:1', region: 'r', declaredQuota: 0, shards: ['a'] };
      await old.apply({ kind: 'UpsertProvider', entry });
      await old.apply({
        kind: 'RestoreOverride',
        machineId: 'm',
        owner: 'a',
        transferId: 't',
      });
    });
    const first = await world.report('a', dials('p:1'));
    assert.equal(first.sendHeld, true);
    const { assignment } = first;
    assert.deepEqual(
      [
        assignment?.complete,
        assignment?.domains,
        assignment?.providers,
        assignment?.adopted,
        assignment?.ownsUnmatchedProviders,
        assignment?.foreignDomains,
        assignment?.ledgerGeneration,
      ],
      [false, [], [], [], [], [], 1n],
    );
    const second = await world.report('a', { ...dials('p:1'), heldDomains: [held('mine')] });
    assert.deepEqual(
      second.assignment?.domains.map(({ topologyValue }) => topologyValue),
      ['mine'],
    );
  });

  it('refuses to assign and unassign domains, and sets no home', async () => {
    const world = await restored();
    await world.report('new', { summary: { providerAddress: 'never-seen:1' } });
    assert.equal(world.ledger.state.home('never-seen:1'), undefined);
    const { ledger, desk } = world;
    const operations = { ledger, recovery: desk.recovery };
    const outcomes = [
      await world.run(assignDomain(operations, zone('z'), 'a')),
      await world.run(unassignDomain(operations, zone('z'))),
    ];
    for (const outcome of outcomes) {
      assert.equal(outcome.kind === 'refused' && outcome.status, 'ABORTED');
    }
  });
});

describe('a shard that dials nothing', () => {
  it('is asked for what it holds until it has said so', async () => {
    const world = await restored((old) => old.report('idle', {}));
    for (const id of ['a', 'b', 'c']) await answer(world, id);
    await settle(world);
    const observedCoordinatorTerm = world.ledger.term;
    const first = await world.report('idle', { observedCoordinatorTerm });
    assert.deepEqual([first.sendHeld, world.desk.recovery.isRecovering('idle')], [true, true]);
    await answer(world, 'idle');
    assert.equal(world.desk.recovery.isOver(), true);
    assert.equal((await world.report('idle', { observedCoordinatorTerm })).sendHeld, false);
  });
});

describe('an empty answer', () => {
  const rows: { name: string; init: ReportInit; reports: number; counts: boolean }[] = [
    { name: 'after two replies that asked', init: {}, reports: 3, counts: true },
    {
      name: 'on a revision, however often asked',
      init: { assignmentRevision: 7n },
      reports: 9,
      counts: false,
    },
    { name: 'after one: its reply may be lost', init: {}, reports: 2, counts: false },
    {
      name: 'from a shard that has not heard this leader',
      init: { observedCoordinatorTerm: 0n },
      reports: 5,
      counts: false,
    },
    {
      name: 'from a shard that dials something of the registry, which it must hold',
      init: dials('p:2', 'registry'),
      reports: 5,
      counts: false,
    },
  ];
  for (const { name, init, reports, counts } of rows) {
    it(`${name} ${counts ? 'counts' : 'does not count'}`, async () => {
      const world = await restored();
      await answer(world, 'a');
      await answer(world, 'b');
      for (let i = 0; i < reports; i++) {
        const observedCoordinatorTerm = world.ledger.term;
        await world.report('c', { ...dials('p:2'), observedCoordinatorTerm, ...init });
      }
      await settle(world);
      assert.equal(world.desk.recovery.isOver(), counts);
    });
  }

  it('of a restarted process does not count: it has not been asked', async () => {
    const world = await restored();
    await answer(world, 'a');
    await answer(world, 'b');
    const observedCoordinatorTerm = world.ledger.term;
    for (const shardEpoch of [1n, 1n, 2n, 2n]) {
      await world.report('c', { ...dials('p:2'), observedCoordinatorTerm, shardEpoch });
    }
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), false);
  });
});

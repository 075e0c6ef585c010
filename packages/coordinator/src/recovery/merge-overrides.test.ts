// Proves the merge of machines that were moved one by one (coordinator §10.5): each has one owner
// afterwards, by proof of a transfer where there is one, and a frozen donor is waited for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignDomain } from '../registry/domains.ts';
import { settleDispute } from '../registry/settle-dispute.ts';
import type { ReportInit } from '../desk/testing/report-world.ts';
import { MIN_RECOVERY_MS } from './recovery-machine.ts';
import { transferId } from '../transfers/transfer-id.ts';
import { answer, dials, held, restored, settle } from '../desk/testing/restored-world.ts';

describe('the merge of overrides', () => {
  const override = { machineId: 'm', transferId: 't', peerShardId: '' };
  const claimed = {
    transfers: [{ transferId: 't', role: 2 as const, state: 3 as const, machineIds: ['m'] }],
  };
  const rows = [
    {
      name: 'absent from the ledger',
      ledger: '',
      a: {},
      b: { heldOverrides: [override] },
      owner: 'b',
      conflicts: 0,
    },
    {
      name: 'moved since the snapshot',
      ledger: 'a',
      a: {},
      b: { heldOverrides: [override] },
      owner: 'b',
      conflicts: 0,
    },
    {
      name: 'claimed by two, nobody has the proof',
      ledger: 'a',
      a: { heldOverrides: [override] },
      b: { heldOverrides: [override] },
      owner: 'a',
      conflicts: 1,
    },
    {
      name: 'claimed by two, the other has CLAIMED it',
      ledger: 'a',
      a: { heldOverrides: [override] },
      b: { heldOverrides: [override], ...claimed },
      owner: 'b',
      conflicts: 1,
    },
    {
      name: 'claimed by two, both have CLAIMED it',
      ledger: 'a',
      a: { heldOverrides: [override], ...claimed },
      b: { heldOverrides: [override], ...claimed },
      owner: 'a',
      conflicts: 1,
    },
    {
      name: 'the other holds it by an earlier transfer: it is the donor, frozen',
      ledger: 'a',
      a: { heldOverrides: [override] },
      b: { heldOverrides: [{ ...override, transferId: 's' }] },
      owner: 'a',
      conflicts: 0,
    },
    {
      name: 'committed since the snapshot, and the donor stands frozen',
      ledger: 'a',
      a: {
        heldOverrides: [override],
        transfers: [{ transferId: 'u', role: 1 as const, state: 1 as const, machineIds: ['m'] }],
      },
      b: { heldOverrides: [{ ...override, transferId: 'u' }] },
      owner: 'b',
      transferId: 'u',
      conflicts: 0,
    },
    {
      name: 'by a later transfer, and the owner acts on it all the same',
      ledger: 'a',
      a: { heldOverrides: [override] },
      b: { heldOverrides: [{ ...override, transferId: 'u' }] },
      owner: 'a',
      conflicts: 1,
    },
    {
      name: 'the same owner holds it by a later transfer',
      ledger: 'a',
      a: { heldOverrides: [{ ...override, transferId: 'u' }] },
      b: {},
      owner: 'a',
      transferId: 'u',
      conflicts: 0,
    },
  ];
  for (const { name, ledger, a, b, owner, conflicts, transferId = 't' } of rows) {
    it(`${name} → ${owner}`, async () => {
      const world = await restored(async (old) => {
        if (ledger === '') return;
        const body = { kind: 'RestoreOverride', machineId: 'm', transferId: 't' } as const;
        await old.apply({ ...body, owner: ledger });
      });
      await answer(world, 'a', a);
      await answer(world, 'b', b);
      await answer(world, 'c');
      await settle(world);
      assert.equal(world.ledger.state.override('m')?.owner, owner);
      assert.equal(world.ledger.state.override('m')?.transferId, transferId);
      assert.equal(world.observer.count('ownership-conflict'), conflicts);
      assert.equal(world.desk.recovery.isOver(), conflicts === 0);
    });
  }

  for (const keeper of ['a', 'b']) {
    it(`claimed by two, the operator decides for ${keeper}`, async () => {
      const world = await restored((old) =>
        old.apply({ kind: 'RestoreOverride', machineId: 'm', transferId: 't', owner: 'a' }),
      );
      await answer(world, 'a', { heldOverrides: [override] });
      await answer(world, 'b', { heldOverrides: [{ ...override, transferId: 'u' }] });
      await answer(world, 'c');
      await settle(world);
      const { ledger, desk } = world;
      const operations = { ledger, recovery: desk.recovery };
      const third = await world.run(settleDispute(operations, 'machine m', 'c'));
      assert.equal(third.kind === 'refused' && third.status, 'ABORTED');
      const other = await world.run(settleDispute(operations, 'x', 'a'));
      assert.equal(other.kind === 'refused' && other.status, 'INVALID_ARGUMENT');
      // As a CLI of an older build asks.
      const asked = assignDomain(operations, { key: '', value: 'machine m' }, keeper);
      assert.equal((await world.run(asked)).kind, 'done');
      const row = world.ledger.state.override('m');
      assert.deepEqual([row?.owner, row?.transferId], [keeper, keeper === 'a' ? 't' : 'u']);
      assert.equal(desk.recovery.isOver(), true);
    });
  }

  it('what its owner does not hold is cleared before anybody leaves recovery', async () => {
    const world = await restored(async (old) => {
      for (const machineId of ['m', 'n']) {
        await old.apply({ kind: 'RestoreOverride', machineId, owner: 'b', transferId: 't' });
      }
    });
    await answer(world, 'a');
    await answer(world, 'b', { heldOverrides: [override] });
    await answer(world, 'c');
    await world.time.runFor(MIN_RECOVERY_MS - 2_000);
    while (world.ledger.state.override('n') !== undefined) {
      const { assignment } = await world.report('b', {
        ...dials('p:1'),
        observedCoordinatorTerm: world.ledger.term,
        heldOverrides: [override],
      });
      assert.equal(assignment?.complete, false);
      await world.time.runFor(100);
    }
    assert.equal(world.ledger.state.override('m')?.owner, 'b');
    const { assignment } = await world.report('b', dials('p:1'));
    assert.equal(assignment?.complete, true);
    assert.deepEqual(
      assignment.adopted.map(({ machineId }) => machineId),
      ['m'],
    );
  });

  it('what an open transfer gives to a recipient that claims nothing is cleared: another may own it', async () => {
    const world = await restored(async (old) => {
      const transfer = { id: 't', from: 'a', to: 'b', providerAddress: 'p:1', machineIds: ['m'] };
      await old.apply({ kind: 'RestoreTransfer', transfer });
    });
    const status = {
      transferId: 't',
      role: 1 as const,
      state: 2 as const,
      peerShardId: 'b',
      machineIds: ['m'],
    };
    await answer(world, 'a', { transfers: [status] });
    await answer(world, 'c');
    await answer(world, 'b', { heldDomains: [held('z')], observedCoordinatorTerm: 0n });
    await settle(world);
    assert.equal(world.ledger.state.override('m')?.owner, 'b', 'an older leader may reach b');
    assert.equal(world.desk.recovery.isOver(), false);
    await answer(world, 'b', { heldDomains: [held('z')] });
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), true);
    assert.equal(world.ledger.state.override('m'), undefined);
  });

  it('what an open transfer gave, and both its shards have forgotten, is cleared', async () => {
    const world = await restored(async (old) => {
      const transfer = { id: 't', from: 'a', to: 'b', providerAddress: 'p:1', machineIds: ['m'] };
      await old.apply({ kind: 'RestoreTransfer', transfer });
    });
    for (const shardId of ['a', 'b', 'c']) await answer(world, shardId);
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), true);
    assert.equal(world.ledger.state.override('m'), undefined);
  });
});

describe('transfers of this leadership, while another provider still recovers', () => {
  it('what one gave to a shard that answered before is not taken back', async () => {
    const world = await restored();
    for (const id of ['a', 'b']) await answer(world, id);
    await settle(world);
    const ours = transferId(world.ledger.term, 1);
    const insert = { kind: 'RestoreOverride', machineId: 'm', owner: 'b' } as const;
    await world.apply({ ...insert, transferId: ours });
    await world.apply({ ...insert, machineId: 'old', transferId: 't' });
    await settle(world);
    assert.equal(world.desk.recovery.isOver(), false, 'c has not answered');
    assert.equal(world.ledger.state.override('m')?.owner, 'b');
    assert.equal(world.ledger.state.override('old'), undefined);
  });

  it('a donor that one has frozen does not keep recovery open', async () => {
    const world = await restored();
    const id = transferId(world.ledger.term, 1);
    await answer(world, 'a', {
      heldOverrides: [{ machineId: 'm', transferId: 's' }],
      transfers: [{ transferId: id, role: 1, state: 1, peerShardId: 'b', machineIds: ['m'] }],
    });
    for (const shardId of ['b', 'c']) await answer(world, shardId);
    await settle(world);
    assert.equal(world.ledger.state.override('m')?.owner, 'a');
    assert.equal(world.desk.recovery.isOver(), true);
  });
});

describe('a donor that stands frozen', () => {
  const frozen: ReportInit = {
    heldOverrides: [{ machineId: 'm', transferId: 's' }],
    transfers: [{ transferId: 't', role: 1, state: 1, peerShardId: 'b', machineIds: ['m'] }],
  };

  it('with a machine that came by a transfer keeps recovery open until it has let go', async () => {
    const world = await restored();
    await answer(world, 'a', frozen);
    for (const id of ['b', 'c']) await answer(world, id);
    await settle(world);
    assert.equal(world.ledger.state.override('m')?.owner, 'a');
    assert.equal(world.desk.recovery.isOver(), false);
    assert.equal(world.desk.recovery.donorHolds('a', ['m']), 'by-transfer');
    await answer(world, 'a', { heldDomains: [held('z')] });
    await settle(world);
    assert.equal(world.ledger.state.override('m'), undefined);
    assert.equal(world.desk.recovery.isOver(), true);
  });

  it('with a machine of its own does not', async () => {
    const world = await restored();
    await answer(world, 'a', { ...frozen, heldOverrides: [], heldDomains: [held('z')] });
    for (const id of ['b', 'c']) await answer(world, id);
    await settle(world);
    assert.equal(world.desk.recovery.donorHolds('a', ['m']), 'by-rule');
    assert.equal(world.desk.recovery.isOver(), true);
  });
});

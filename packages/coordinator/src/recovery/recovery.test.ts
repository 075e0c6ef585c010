// Proves recovery after a restore (§10.5): nobody loses or is given anything before everybody has said
// what they hold, each merge rule, each way out, and that a dispute keeps its provider in recovery.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignDomain, unassignDomain } from '../registry/domains.ts';
import { registerProvider } from '../registry/providers.ts';
import { removeShard } from '../registry/remove-shard.ts';
import { type ReportInit, ReportWorld } from '../reports/testing/report-world.ts';
import { nextGeneration } from '../state/generation.ts';
import { MIN_RECOVERY_MS } from './recovery-machine.ts';
import { waitText } from './recovery-wait.ts';

const zone = (value: string): { key: string; value: string } => ({ key: 'zone', value });
const held = (value: string): { topologyKey: string; topologyValue: string } => ({
  topologyKey: 'zone',
  topologyValue: value,
});

function dials(address: string, source = 'flag'): ReportInit {
  return {
    providerShared: true,
    summary: { providers: [{ name: address, address, shared: true, source, totalMachines: 1 }] },
  };
}

/** Shards a and b with p:1 (home a), c with p:2; then a restore and a new leader. */
async function restored(before?: (world: ReportWorld) => Promise<unknown>): Promise<ReportWorld> {
  const world = await ReportWorld.open();
  await world.report('a', dials('p:1'));
  await world.report('b', dials('p:1'));
  await world.report('c', dials('p:2'));
  await before?.(world);
  const { meta } = world.store.disk;
  assert.ok(meta !== undefined);
  world.store.disk.meta = nextGeneration(meta);
  await world.elect();
  world.supervise(world.desk.recoveryDriver.run(new AbortController().signal));
  return world;
}

const addressOf: Readonly<Record<string, string>> = { a: 'p:1', b: 'p:1', c: 'p:2' };

/** Three reports: an empty answer is believed only after two replies have asked for it. */
async function answer(world: ReportWorld, shardId: string, init: ReportInit = {}): Promise<void> {
  const observedCoordinatorTerm = world.ledger.term;
  for (let i = 0; i < 3; i++) {
    await world.report(shardId, {
      ...dials(addressOf[shardId] ?? ''),
      observedCoordinatorTerm,
      ...init,
    });
  }
}

async function settle(world: ReportWorld): Promise<void> {
  await world.time.runFor(MIN_RECOVERY_MS + 2_000);
}

function owners(world: ReportWorld): Record<string, string> {
  const rows = world.ledger.state.domains();
  return Object.fromEntries(rows.map(({ value, shardId }) => [value, shardId]));
}

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
    const operations = { ledger, queue: desk.queue, recovery: desk.recovery };
    const outcomes = [
      await world.run(assignDomain(operations, zone('z'), 'a')),
      await world.run(unassignDomain(operations, zone('z'))),
    ];
    for (const outcome of outcomes) {
      assert.equal(outcome.kind === 'refused' && outcome.status, 'ABORTED');
    }
  });
});

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
      const operations = { ledger, queue: desk.queue, recovery: desk.recovery };
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
});

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
      const operations = { ledger, queue: desk.queue, recovery: desk.recovery };
      const thing = { key: '', value: 'machine m' };
      const third = await world.run(assignDomain(operations, thing, 'c'));
      assert.equal(third.kind === 'refused' && third.status, 'ABORTED');
      const other = await world.run(assignDomain(operations, { key: '', value: 'x' }, 'a'));
      assert.equal(other.kind === 'refused' && other.status, 'INVALID_ARGUMENT');
      assert.equal((await world.run(assignDomain(operations, thing, keeper))).kind, 'done');
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

describe('the merge of homes', () => {
  const acts = { heldDomains: [{ topologyKey: '', topologyValue: 'p:1' }] };

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
      const operations = { ledger, queue: desk.queue, recovery: desk.recovery };
      const thing = { key: '', value: 'home p:1' };
      assert.equal((await world.run(assignDomain(operations, thing, keeper))).kind, 'done');
      assert.equal(world.ledger.state.home('p:1')?.shardId, keeper);
      assert.equal(desk.recovery.isOver(), true);
    });
  }
});

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
    const home = { topologyKey: '', topologyValue: 'p:1' };
    await answer(world, 'b', { heldDomains: [held('z'), home] });
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

describe('a shard that the restored ledger does not know', () => {
  const names = (shardId: string): ReportInit => ({
    heldDomains: [{ topologyKey: '', topologyValue: '', shardId }],
  });

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

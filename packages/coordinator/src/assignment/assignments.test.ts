// Proves what an assignment says for a given ledger, when it is sent, and that building one at full
// fleet size copies pointers instead of making objects.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { SoftState } from '../reports/soft-state.ts';
import { makeReport, type ReportInit, ReportWorld } from '../desk/testing/report-world.ts';
import { FleetState } from '../state/fleet-state.ts';
import { keyOfRow } from '../state/keys.ts';
import { encodeRow } from '../state/row-format.ts';
import type { ProviderRow, StoredRow } from '../state/rows.ts';
import { Assignments } from './assignments.ts';

function entry(name: string, address: string, shards: readonly string[] = []): ProviderRow {
  return { name, address, region: 'r', declaredQuota: 0, shards };
}

function dials(address: string, shared: boolean, source = 'registry'): ReportInit {
  return {
    providerShared: shared,
    summary: { providers: [{ name: address, address, shared, source, totalMachines: 1 }] },
  };
}

/** Both shards dial p:1, shared by flag; a is its home. */
async function sharedByFlag(): Promise<ReportWorld> {
  const world = await ReportWorld.open();
  await world.report('a', dials('p:1', true, 'flag'));
  await world.report('b', dials('p:1', true, 'flag'));
  return world;
}

describe('when it is sent', () => {
  it('iff the revision differs, and to a shard that reports none every time', async () => {
    const world = await ReportWorld.open();
    await world.report('a', dials('p:1', false, 'flag'));
    const { assignmentRevision } = world.ledger.state.meta;
    const revision = BigInt(assignmentRevision);
    assert.ok(revision > 0n);
    const send = async (reported: bigint): Promise<boolean> =>
      (await world.report('a', { assignmentRevision: reported })).assignment !== undefined;
    assert.deepEqual(
      [await send(0n), await send(0n), await send(revision), await send(revision + 1n)],
      [true, true, false, true],
    );
  });
});

describe('what it says', () => {
  it('own and foreign domains, homes, quotas and overrides of a shared provider', async () => {
    const world = await sharedByFlag();
    const zone = (value: string): { key: string; value: string } => ({ key: 'zone', value });
    await world.apply({ kind: 'AssignDomain', domain: zone('z1'), shard: 'a' });
    await world.apply({ kind: 'AssignDomain', domain: zone('z2'), shard: 'b' });
    await world.apply({ kind: 'AssignDomain', domain: zone('z3'), shard: 'b' });
    await world.apply({ kind: 'UnassignDomain', domain: zone('z3') });
    const perShard = new Map([
      ['a', 4],
      ['b', 6],
    ]);
    await world.apply({ kind: 'SetQuota', provider: 'q', region: 'r', perShard });
    const restore = { kind: 'RestoreOverride', transferId: 't' } as const;
    await world.apply({ ...restore, machineId: 'm-a', owner: 'a' });
    await world.apply({ ...restore, machineId: 'm-b', owner: 'b' });
    const current = BigInt(world.ledger.state.meta.assignmentRevision);
    await world.report('b', {
      ...dials('p:1', true, 'flag'),
      assignmentRevision: current,
      releasingDomains: [{ topologyKey: 'zone', topologyValue: 'z3' }],
    });
    const { assignment } = await world.report('a', dials('p:1', true, 'flag'));
    assert.ok(assignment !== undefined);
    const names = (refs: readonly { topologyValue: string; shardId: string }[]): string[] =>
      refs.map(({ topologyValue, shardId }) => `${topologyValue}@${shardId}`);
    assert.deepEqual(names(assignment.domains), ['z1@a']);
    assert.deepEqual(names(assignment.foreignDomains), ['z2@b', 'z3@b', 'b@b']);
    assert.deepEqual(assignment.ownsUnmatchedProviders, ['p:1']);
    assert.deepEqual(
      assignment.quotas.map(({ provider, region, slice }) => [provider, region, slice]),
      [['q', 'r', 4]],
    );
    assert.deepEqual(
      assignment.adopted.map(({ machineId }) => machineId),
      ['m-a'],
    );
    assert.deepEqual(
      assignment.released.map(({ machineId, peerShardId }) => [machineId, peerShardId]),
      [['m-b', 'b']],
    );
    assert.equal(assignment.complete, true);
    assert.equal(assignment.ledgerGeneration, 0n);
    assert.equal(assignment.revision, BigInt(world.ledger.state.meta.assignmentRevision));
  });

  it('a domain in release is no longer among the domains of its owner', async () => {
    const world = await ReportWorld.open();
    await world.report('a');
    const domain = { key: 'zone', value: 'z' };
    await world.apply({ kind: 'AssignDomain', domain, shard: 'a' });
    const before = await world.report('a');
    await world.apply({ kind: 'UnassignDomain', domain });
    const after = await world.report('a');
    assert.equal(before.assignment?.domains.length, 1);
    assert.equal(after.assignment?.domains.length, 0);
  });

  it('nothing of others to a shard that shares nothing', async () => {
    const world = await ReportWorld.open();
    await world.report('a', dials('p:1', false, 'flag'));
    await world.report('b', dials('p:2', false, 'flag'));
    await world.apply({ kind: 'AssignDomain', domain: { key: 'k', value: 'v' }, shard: 'b' });
    const { assignment } = await world.report('a', dials('p:1', false, 'flag'));
    assert.deepEqual([assignment?.foreignDomains, assignment?.released], [[], []]);
  });
});

describe('which providers', () => {
  async function targetsOf(
    world: ReportWorld,
    shardId: string,
    init: ReportInit = {},
  ): Promise<string[]> {
    const { assignment } = await world.report(shardId, init);
    const targets = assignment?.providers ?? [];
    return targets.map(({ name, shared }) => `${name}${shared ? ' shared' : ''}`);
  }

  it('the entries for this shard, and those for all', async () => {
    const world = await ReportWorld.open();
    await world.apply({ kind: 'UpsertProvider', entry: entry('one', 'p:1', ['a', 'absent']) });
    await world.apply({ kind: 'UpsertProvider', entry: entry('two', 'p:2', ['b']) });
    assert.deepEqual(await targetsOf(world, 'a'), ['one']);
    assert.deepEqual(await targetsOf(world, 'b'), ['two']);
    await world.apply({ kind: 'UpsertProvider', entry: entry('all', 'unix:/p') });
    assert.deepEqual(await targetsOf(world, 'a', dials('p:1', false)), ['all', 'one']);
  });

  it('a host-local address is one provider per shard: never shared, no home', async () => {
    const world = await ReportWorld.open();
    await world.report('a');
    await world.report('b');
    for (const address of ['unix:/p', '127.0.0.1:1', 'localhost:1', '[::1]:1']) {
      await world.apply({ kind: 'UpsertProvider', entry: entry(address, address) });
    }
    const targets = await targetsOf(world, 'a');
    assert.equal(targets.length, 4);
    assert.ok(targets.every((target) => !target.endsWith('shared')));
    assert.deepEqual(world.ledger.state.homes(), []);
  });

  it('shared is never sent without a home; the first shard that obeys the registry becomes it', async () => {
    const world = await ReportWorld.open();
    await world.report('flagged', dials('x:1', false, 'flag'));
    await world.report('a');
    await world.report('b');
    await world.apply({ kind: 'UpsertProvider', entry: entry('p', 'p:1') });
    assert.deepEqual(await targetsOf(world, 'flagged', dials('x:1', false, 'flag')), []);
    assert.equal(world.ledger.state.home('p:1'), undefined);
    assert.deepEqual(await targetsOf(world, 'b'), ['p shared']);
    assert.equal(world.ledger.state.home('p:1')?.shardId, 'b');
  });

  it('a second shard gets it only after the sole owner has narrowed itself', async () => {
    const world = await ReportWorld.open();
    await world.apply({ kind: 'UpsertProvider', entry: entry('p', 'p:1', ['a']) });
    assert.deepEqual(await targetsOf(world, 'a'), ['p']);
    await world.report('a', dials('p:1', false));
    await world.report('b');
    await world.apply({ kind: 'UpsertProvider', entry: entry('p', 'p:1', ['a', 'b']) });
    assert.deepEqual(await targetsOf(world, 'b'), []);
    assert.deepEqual(await targetsOf(world, 'a', dials('p:1', false)), ['p shared']);
    assert.deepEqual(await targetsOf(world, 'b'), [], 'a has been told, but does not report it');
    const { assignmentRevision } = world.ledger.state.meta;
    const older = BigInt(assignmentRevision - 1);
    await world.report('a', { ...dials('p:1', true), assignmentRevision: older });
    assert.deepEqual(await targetsOf(world, 'b'), [], 'a does not know the domains of b');
    const current = BigInt(assignmentRevision);
    await world.report('a', { ...dials('p:1', true), assignmentRevision: current });
    const upToDate = { assignmentRevision: current };
    assert.deepEqual(await targetsOf(world, 'b', upToDate), ['p shared'], 'though its revision is');
    const dialling = { ...dials('p:1', true), ...upToDate };
    assert.equal((await world.report('b', dialling)).assignment, undefined);
  });

  it('a shard that is alone again widens itself only after the other has let go', async () => {
    const world = await ReportWorld.open();
    await world.apply({ kind: 'UpsertProvider', entry: entry('p', 'p:1', ['a', 'b']) });
    await world.report('b', {});
    await world.report('a', dials('p:1', true));
    await world.report('b', dials('p:1', true));
    await world.apply({ kind: 'UpsertProvider', entry: entry('p', 'p:1', ['a']) });
    assert.deepEqual(await targetsOf(world, 'a', dials('p:1', true)), ['p shared']);
    await world.report('b', {});
    assert.deepEqual(await targetsOf(world, 'a', dials('p:1', true)), ['p']);
  });
});

describe('a newly assigned domain', () => {
  const domain = { key: 'zone', value: 'z' };
  const shared = dials('p:1', true, 'flag');

  async function ownDomains(world: ReportWorld, init: ReportInit = {}): Promise<number> {
    return (await world.report('b', { ...shared, ...init })).assignment?.domains.length ?? -1;
  }

  it('waits until the home acts on an assignment that calls it foreign', async () => {
    const world = await sharedByFlag();
    await world.apply({ kind: 'AssignDomain', domain, shard: 'b' });
    const revision = BigInt(world.ledger.state.meta.assignmentRevision);
    const early = await world.report('b', shared);
    assert.deepEqual(early.assignment?.domains, []);
    assert.equal(early.assignment?.revision, revision - 1n);
    await world.report('a', { ...shared, assignmentRevision: revision - 1n });
    assert.equal(await ownDomains(world), 0, 'a acts on an older one');
    const ref = { topologyKey: 'zone', topologyValue: 'z' };
    const still = { ...shared, assignmentRevision: revision, releasingDomains: [ref] };
    await world.report('a', still);
    assert.equal(await ownDomains(world), 0, 'a still lets go');
    await world.report('a', { ...shared, assignmentRevision: revision });
    const { assignment } = await world.report('b', shared);
    assert.equal(assignment?.domains.length, 1);
    assert.equal(assignment?.revision, revision);
  });

  it('waits for a shard that this leader has not heard, but not for one that shares nothing', async () => {
    const world = await sharedByFlag();
    await world.report('c', dials('other:1', false, 'flag'));
    await world.apply({ kind: 'AssignDomain', domain, shard: 'b' });
    const revision = BigInt(world.ledger.state.meta.assignmentRevision);
    await world.elect();
    await world.report('a', { ...shared, assignmentRevision: revision });
    assert.equal(await ownDomains(world), 0);
    await world.report('c', dials('other:1', false, 'flag'));
    assert.equal(await ownDomains(world), 1);
  });

  it('is not taken back from its owner by an election', async () => {
    const world = await sharedByFlag();
    await world.apply({ kind: 'AssignDomain', domain, shard: 'b' });
    const revision = BigInt(world.ledger.state.meta.assignmentRevision);
    await world.elect();
    const later = { key: 'zone', value: 'later' };
    await world.apply({ kind: 'AssignDomain', domain: later, shard: 'b' });
    const { assignment } = await world.report('b', { ...shared, assignmentRevision: revision });
    assert.deepEqual(
      assignment?.domains.map(({ topologyValue }) => topologyValue),
      ['z'],
    );
    assert.equal(assignment?.revision, revision);
  });

  it('is announced at once where nothing is shared', async () => {
    const world = await ReportWorld.open();
    await world.report('b', dials('p:2', false, 'flag'));
    await world.report('a', dials('p:1', false, 'flag'));
    await world.apply({ kind: 'AssignDomain', domain, shard: 'b' });
    const { assignment } = await world.report('b', dials('p:2', false, 'flag'));
    assert.equal(assignment?.domains.length, 1);
  });
});

/** 200 shards that share everything, 100,000 domains. */
function wholeFleet(): readonly StoredRow[] {
  const shards = Array.from({ length: 200 }, (_, at): StoredRow => {
    const row = { id: `s${at}`, address: '', registeredAtMs: 0, uid: at + 1, maxEpoch: 1n };
    return { table: 'shards', key: keyOfRow('shards', row), value: encodeRow('shards', row) };
  });
  const domains = Array.from({ length: 100_000 }, (_, at): StoredRow => {
    const owner = at % 200;
    const names = { key: 'zone', value: `z${at}`, shardId: `s${owner}`, shardUid: owner + 1 };
    const row = { ...names, state: 'ASSIGNED' as const, revision: 1 };
    return { table: 'domains', key: keyOfRow('domains', row), value: encodeRow('domains', row) };
  });
  return [...shards, ...domains];
}

describe('at fleet size', () => {
  it('an assignment reuses the references that the last one made', async () => {
    const world = await ReportWorld.open();
    const meta = { ...world.ledger.state.meta, assignmentRevision: 1 };
    const view = new FleetState({ meta, rows: wholeFleet() });
    const soft = new SoftState();
    const recovery = new RecoveryMachine({ view, soft, term: 1n, nowMs: () => 0 });
    const assignments = new Assignments({ view, soft, recovery });
    const foreignOf = (shardId: string): readonly object[] => {
      const report = makeReport({ shardId, ...dials('p:1', true, 'flag') });
      return assignments.forReport(report)?.foreignDomains ?? [];
    };
    const known = new Set(foreignOf('s0'));
    assert.equal(known.size, 99_500 + 199, 'and a mark for each of the others');
    const reused = foreignOf('s1').filter((reference) => known.has(reference)).length;
    assert.equal(reused, 99_000, 'all but those of the two shards themselves');
  });
});

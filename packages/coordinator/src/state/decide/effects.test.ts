// Proves what accepted commands write: rows, stamps, guards, sweeping, and when the assignment
// revision moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandBody } from '../commands.ts';
import { StateMachine } from '../testing/state-machine.ts';

const DAY_MS = 86_400_000;
const DOMAIN = { key: 'rack', value: 'r1' };
const shard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: `${id}:1`,
  registeredAtMs: 5,
});
const begin = (id: string, from: string, to: string, tier: 1 | 2): CommandBody => ({
  kind: 'BeginTransfer',
  id,
  from,
  to,
  tier,
  providerAddress: 'p:1',
  reasonCode: 'r',
  selector: null,
});
const home = (id: string): CommandBody => ({
  kind: 'SetProviderHome',
  providerAddress: 'p:1',
  shard: id,
});
const quota = (slices: Readonly<Record<string, number>>): CommandBody => ({
  kind: 'SetQuota',
  provider: 'p',
  region: 'r',
  perShard: new Map(Object.entries(slices)),
});
const step = (name: 'SHRINK' | 'GROW' | 'RESTORE'): CommandBody => ({
  kind: 'MoveQuota',
  id: 't',
  provider: 'p',
  region: 'r',
  from: 'a',
  to: 'b',
  count: 2,
  step: name,
});

function after(...bodies: readonly CommandBody[]): StateMachine {
  const machine = new StateMachine();
  for (const body of bodies) assert.equal(machine.apply(body).kind, 'applied');
  return machine;
}

test('a shard gets the index of its command as uid, and a namesake another', () => {
  const machine = after(shard('x'), shard('a'));
  assert.equal(machine.state.shard('a')?.uid, 2);
  machine.apply({ kind: 'RemoveShard', id: 'a' });
  machine.apply(shard('a'));
  assert.deepEqual(machine.state.shard('a'), {
    id: 'a',
    address: 'a:1',
    registeredAtMs: 5,
    uid: 4,
    maxEpoch: 0n,
  });
});

test('removing a shard writes one row and names what died with it; a namesake inherits nothing', () => {
  const machine = after(
    shard('a'),
    shard('b'),
    { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false },
    { kind: 'AssignDomain', domain: DOMAIN, shard: 'a' },
    home('a'),
    quota({ a: 3 }),
    begin('t', 'b', 'a', 1),
    { kind: 'CommitTransfer', id: 't', machineIds: ['m'], maxOverrides: 10 },
    { kind: 'RemoveShard', id: 'a' },
  );
  assert.deepEqual(machine.lastChange?.writes, [
    { kind: 'delete', table: 'shards', key: 'shards/a' },
  ]);
  const dead = ['clusters/c', 'domains/rack/r1', 'homes/p%3A1', 'overrides/m', 'quotas/p/r'];
  assert.deepEqual([...(machine.lastChange?.gc ?? [])].sort(), dead);
  assert.deepEqual(machine.state.dangling().sort(), dead);
  machine.apply(shard('a'));
  const { state } = machine;
  assert.equal(state.cluster('c'), undefined);
  assert.equal(state.domain(DOMAIN), undefined);
  assert.equal(state.home('p:1'), undefined);
  assert.equal(state.override('m'), undefined);
  assert.equal(state.quota('p', 'r'), undefined);
  const lists = [state.clusters(), state.domains(), state.homes(), state.overrides()];
  assert.deepEqual([...lists, state.quotas(), state.domainsOf('a')].flat(), []);
  assert.equal(state.overrideCount(), 0);
  assert.equal(state.openTransfers().length, 1, 'its saga still has to end');
});

test('a dead row can be written anew, is then no longer to be swept, and guards its shard', () => {
  const machine = after(
    shard('a'),
    shard('b'),
    { kind: 'AssignDomain', domain: DOMAIN, shard: 'a' },
    { kind: 'RemoveShard', id: 'a' },
    { kind: 'AssignDomain', domain: DOMAIN, shard: 'b' },
  );
  assert.deepEqual(machine.lastChange?.reads, ['shards/b']);
  assert.equal(machine.state.isDangling('domains/rack/r1'), false);
  assert.deepEqual(machine.state.domainsOf('b').length, 1);
});

test('a home is replaced by name, guards its new shard and moves the assignment', () => {
  const machine = after(shard('a'), shard('b'), home('a'));
  const { assignmentRevision } = machine.state.meta;
  const taken = { kind: 'SetProviderHome', providerAddress: 'p:1', shard: 'b', from: 'a' } as const;
  assert.equal(machine.apply(taken).kind, 'applied');
  assert.deepEqual(machine.lastChange?.reads, ['shards/b']);
  assert.equal(machine.state.home('p:1')?.shardId, 'b');
  assert.equal(machine.state.meta.assignmentRevision, assignmentRevision + 1);
});

test('a domain is released by its owner only after RELEASING, and can be taken back', () => {
  const machine = after(shard('a'), { kind: 'AssignDomain', domain: DOMAIN, shard: 'a' });
  assert.equal(machine.state.domain(DOMAIN)?.revision, machine.state.meta.assignmentRevision);
  machine.apply({ kind: 'UnassignDomain', domain: DOMAIN });
  assert.equal(machine.state.domain(DOMAIN)?.state, 'RELEASING');
  assert.equal(machine.apply({ kind: 'AssignDomain', domain: DOMAIN, shard: 'a' }).kind, 'applied');
  assert.equal(machine.state.domain(DOMAIN)?.state, 'ASSIGNED');
  machine.apply({ kind: 'UnassignDomain', domain: DOMAIN });
  machine.apply({ kind: 'DomainReleased', domain: DOMAIN, shard: 'a' });
  assert.equal(machine.state.domain(DOMAIN), undefined);
});

test('force moves a cluster and stamps the time', () => {
  const machine = after(
    shard('a'),
    shard('b'),
    { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false },
    { kind: 'BindCluster', cluster: 'c', shard: 'b', force: true },
  );
  const { shardId, boundAtMs } = machine.state.cluster('c') ?? assert.fail();
  assert.deepEqual([shardId, boundAtMs], ['b', machine.nowMs]);
  machine.apply({ kind: 'UnbindCluster', cluster: 'c' });
  assert.deepEqual(machine.state.clusters(), []);
});

test('commit, finish and clear: one commit moves every machine, and the ledger forgets late', () => {
  const machine = after(shard('a'), shard('b'), begin('t', 'a', 'b', 1), {
    kind: 'CommitTransfer',
    id: 't',
    machineIds: ['m2', 'm1'],
    maxOverrides: 2,
  });
  const { state } = machine;
  assert.equal(machine.lastChange?.writes.length, 3);
  assert.deepEqual(
    state.overridesOwnedBy('b').map(({ machineId, transferId }) => [machineId, transferId]),
    [
      ['m1', 't'],
      ['m2', 't'],
    ],
  );
  machine.apply({ kind: 'FinishTransfer', id: 't' });
  assert.deepEqual(state.openTransfers(), []);
  machine.apply({ kind: 'ClearOverrides', machineIds: ['m1', 'unknown'], owner: 'b' });
  assert.deepEqual(
    state.overrides().map(({ machineId }) => machineId),
    ['m2'],
  );
  const all: CommandBody = { kind: 'GcTransfers', beforeMs: Number.MAX_SAFE_INTEGER };
  assert.equal(machine.apply(all).kind, 'unchanged');
  machine.nowMs += DAY_MS;
  assert.equal(machine.apply(all).kind, 'unchanged', 'exactly 24 h are not older than 24 h');
  machine.nowMs += 1;
  assert.equal(machine.apply({ kind: 'GcTransfers', beforeMs: 0 }).kind, 'unchanged');
  assert.equal(machine.apply(all).kind, 'applied');
  assert.equal(state.transfer('t'), undefined);
});

test('a machine goes back: the override of the donor is overwritten and counts once', () => {
  const machine = after(
    shard('a'),
    shard('b'),
    begin('t', 'a', 'b', 1),
    { kind: 'CommitTransfer', id: 't', machineIds: ['m'], maxOverrides: 1 },
    { kind: 'FinishTransfer', id: 't' },
    begin('u', 'b', 'a', 1),
    { kind: 'CommitTransfer', id: 'u', machineIds: ['m'], maxOverrides: 1 },
  );
  assert.equal(machine.state.override('m')?.owner, 'a');
  assert.deepEqual(machine.state.overridesOwnedBy('b'), []);
});

test('quota moves from donor to recipient, or back, and never above what was there', () => {
  const shrunk = [shard('a'), shard('b'), quota({ a: 5 }), begin('t', 'a', 'b', 2), step('SHRINK')];
  const slices = (machine: StateMachine): unknown =>
    machine.state.quota('p', 'r')?.slices.map(({ shardId, slice }) => [shardId, slice]);
  const grown = after(...shrunk, step('GROW'));
  assert.deepEqual(slices(grown), [
    ['a', 3],
    ['b', 2],
  ]);
  assert.equal(grown.state.transfer('t')?.phase, 'COMMITTED');
  const back = after(...shrunk, step('RESTORE'));
  assert.deepEqual(slices(back), [['a', 5]]);
  assert.equal(back.apply({ kind: 'AbortTransfer', id: 't', reasonCode: 'x' }).kind, 'applied');
  const gone = after(...shrunk, { kind: 'RemoveShard', id: 'a' }, step('RESTORE'));
  assert.equal(slices(gone), undefined);
  assert.equal(gone.state.transfer('t')?.quota?.step, 'RESTORED');
  const byHand = after(...shrunk, quota({ a: 4 }));
  assert.deepEqual(slices(byHand), [['a', 4]]);
  assert.equal(byHand.state.transfer('t')?.quota?.step, 'RESTORED');
});

test('a namesake of the donor is given nothing back', () => {
  const machine = after(
    shard('a'),
    shard('b'),
    quota({ a: 5, b: 1 }),
    begin('t', 'a', 'b', 2),
    step('SHRINK'),
    { kind: 'RemoveShard', id: 'a' },
    shard('a'),
    step('RESTORE'),
  );
  assert.deepEqual(
    machine.state.quota('p', 'r')?.slices.map(({ shardId }) => shardId),
    ['b'],
  );
});

test('a proven transfer is committed again, also over an abort', () => {
  const transfer = { id: 't', from: 'a', to: 'b', providerAddress: 'p:1', machineIds: ['m'] };
  const machine = after(
    shard('b'),
    { kind: 'RestoreTransfer', transfer },
    { kind: 'RestoreOverride', machineId: 'n', owner: 'b', transferId: 'lost' },
  );
  assert.equal(machine.state.transfer('t')?.phase, 'COMMITTED');
  assert.deepEqual(
    machine.state.overridesOwnedBy('b').map(({ machineId }) => machineId),
    ['m', 'n'],
  );
  const aborted = after(shard('a'), shard('b'), begin('t', 'a', 'b', 1), {
    kind: 'AbortTransfer',
    id: 't',
    reasonCode: 'x',
  });
  assert.equal(aborted.apply({ kind: 'RestoreTransfer', transfer }).kind, 'applied');
  assert.deepEqual(
    aborted.state.openTransfers().map(({ phase }) => phase),
    ['COMMITTED'],
  );
});

const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0 };
const REVISIONS: readonly [string, readonly CommandBody[], CommandBody, boolean][] = [
  ['a shard no entry names', [], shard('a'), false],
  [
    'a shard an entry names',
    [{ kind: 'UpsertProvider', entry: { ...entry, shards: ['a'] } }],
    shard('a'),
    true,
  ],
  [
    'a shard beside an entry for another',
    [{ kind: 'UpsertProvider', entry: { ...entry, shards: ['b'] } }],
    shard('a'),
    false,
  ],
  [
    'a shard beside an entry for all',
    [{ kind: 'UpsertProvider', entry: { ...entry, shards: [] } }],
    shard('a'),
    true,
  ],
  ['a removed shard', [shard('a')], { kind: 'RemoveShard', id: 'a' }, true],
  [
    'a binding',
    [shard('a')],
    { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false },
    false,
  ],
  ['a domain', [shard('a')], { kind: 'AssignDomain', domain: DOMAIN, shard: 'a' }, true],
  ['a quota', [shard('a')], quota({ a: 1 }), true],
  ['an entry', [], { kind: 'UpsertProvider', entry: { ...entry, shards: [] } }, true],
  ['a home', [shard('a')], home('a'), true],
  ['an epoch', [shard('a')], { kind: 'RecordShardEpoch', shard: 'a', epoch: 1n }, false],
  ['a begun transfer', [shard('a'), shard('b')], begin('t', 'a', 'b', 1), false],
  [
    'a committed transfer',
    [shard('a'), shard('b'), begin('t', 'a', 'b', 1)],
    { kind: 'CommitTransfer', id: 't', machineIds: ['m'], maxOverrides: 1 },
    true,
  ],
];

for (const [name, given, command, moves] of REVISIONS) {
  test(`assignment revision and ${name}`, () => {
    const machine = after(...given);
    const before = machine.state.meta.assignmentRevision;
    assert.equal(machine.apply(command).kind, 'applied');
    assert.equal(machine.state.meta.assignmentRevision, moves ? before + 1 : before);
  });
}

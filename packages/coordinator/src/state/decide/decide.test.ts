// Proves every row of the command table (coordinator §2.4): what is refused and with which words,
// what is already so, what is written, and which commands raise the assignment revision.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandBody } from '../commands.ts';
import type { ProviderRow } from '../rows.ts';
import { StateMachine, type StepResult } from '../testing/state-machine.ts';
import type { RefusalCode } from './decision.ts';

const DOMAIN = { key: 'rack', value: 'r1' };
const PROVIDER: ProviderRow = {
  name: 'aws',
  address: 'aws:9000',
  region: 'eu',
  declaredQuota: 10,
  shards: [],
};

const addShard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: `${id}:7780`,
  registeredAtMs: 5,
});
const upsert = (entry: Partial<ProviderRow>): CommandBody => ({
  kind: 'UpsertProvider',
  entry: { ...PROVIDER, ...entry },
});
const setQuota = (perShard: Readonly<Record<string, number>>, region = 'eu'): CommandBody => ({
  kind: 'SetQuota',
  provider: 'aws',
  region,
  perShard: new Map(Object.entries(perShard)),
});
const begin = (id: string, from = 'a', to = 'b', tier: 1 | 2 = 1): CommandBody => ({
  kind: 'BeginTransfer',
  id,
  from,
  to,
  tier,
  providerAddress: 'aws:9000',
  reasonCode: 'shortfall',
  selector: null,
});
const commit = (id: string, machineIds: readonly string[], maxOverrides = 100): CommandBody => ({
  kind: 'CommitTransfer',
  id,
  machineIds,
  maxOverrides,
});
const move = (step: 'SHRINK' | 'GROW' | 'RESTORE', count = 2): CommandBody => ({
  kind: 'MoveQuota',
  id: 't1',
  provider: 'aws',
  region: 'eu',
  from: 'a',
  to: 'b',
  count,
  step,
});
const restored = (id: string, from: string, to: string, ids: readonly string[]): CommandBody => ({
  kind: 'RestoreTransfer',
  transfer: { id, from, to, providerAddress: 'aws:9000', machineIds: ids },
});
const assign = (shard: string): CommandBody => ({ kind: 'AssignDomain', domain: DOMAIN, shard });
const unassign: CommandBody = { kind: 'UnassignDomain', domain: DOMAIN };
const bind = (shard: string, force = false): CommandBody => ({
  kind: 'BindCluster',
  cluster: 'c1',
  shard,
  force,
});

const AB = [addShard('a'), addShard('b')];
const ABC = [...AB, addShard('c')];
const MOVED = [...ABC, begin('t1'), commit('t1', ['m1'])];
const SHRUNK = [
  ...AB,
  upsert({}),
  setQuota({ a: 4, b: 6 }),
  begin('t1', 'a', 'b', 2),
  move('SHRINK'),
];
const long = 'x'.repeat(2_000);

interface RefusedCase {
  readonly name: string;
  readonly given: readonly CommandBody[];
  readonly command: CommandBody;
  readonly code: RefusalCode;
  readonly message: RegExp | string;
}

const REFUSED: readonly RefusedCase[] = [
  {
    name: 'AddShard without an id',
    given: [],
    command: addShard(''),
    code: 'invalid',
    message: 'ShardEntry.ID required',
  },
  {
    name: 'AddShard outside the id grammar',
    given: [],
    command: addShard('a b'),
    code: 'invalid',
    message: /shard id "a b"/,
  },
  {
    name: 'AddShard twice',
    given: AB,
    command: addShard('a'),
    code: 'shard-exists',
    message: 'coordinator: shard already registered',
  },
  {
    name: 'AddShard at no time',
    given: [],
    command: { kind: 'AddShard', id: 'a', address: '', registeredAtMs: -1 },
    code: 'invalid',
    message: /registered_at/,
  },
  {
    name: 'RemoveShard unknown',
    given: [],
    command: { kind: 'RemoveShard', id: 'a' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RemoveShard of text that is no Unicode',
    given: AB,
    command: { kind: 'RemoveShard', id: '\ud800' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'BindCluster to an unknown shard',
    given: [],
    command: bind('a'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'BindCluster outside the grammar',
    given: AB,
    command: { kind: 'BindCluster', cluster: 'c/1', shard: 'a', force: false },
    code: 'invalid',
    message: /cluster id/,
  },
  {
    name: 'BindCluster elsewhere',
    given: [...AB, bind('a')],
    command: bind('b'),
    code: 'cluster-bound-elsewhere',
    message: 'coordinator: cluster already bound to a different shard: c1 currently on a, asked b',
  },
  {
    name: 'AssignDomain to an unknown shard',
    given: [],
    command: assign('a'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'AssignDomain without a key',
    given: AB,
    command: { kind: 'AssignDomain', domain: { key: '', value: 'x' }, shard: 'a' },
    code: 'invalid',
    message: /topology key is empty/,
  },
  {
    name: 'AssignDomain without a value',
    given: AB,
    command: { kind: 'AssignDomain', domain: { key: 'x', value: '' }, shard: 'a' },
    code: 'invalid',
    message: /topology value is empty/,
  },
  {
    name: 'AssignDomain of another',
    given: [...AB, assign('a')],
    command: assign('b'),
    code: 'domain-assigned-elsewhere',
    message:
      'coordinator: domain already assigned to another shard: rack=r1 currently on a, asked b',
  },
  {
    name: 'AssignDomain while another releases',
    given: [...AB, assign('a'), unassign],
    command: assign('b'),
    code: 'domain-releasing',
    message: /: rack=r1 currently on a, asked b$/,
  },
  {
    name: 'SetQuota below zero',
    given: AB,
    command: setQuota({ a: -1 }),
    code: 'invalid',
    message: /slice of a: -1/,
  },
  {
    name: 'SetQuota above an int32',
    given: AB,
    command: setQuota({ a: 2 ** 31 }),
    code: 'invalid',
    message: /slice of a/,
  },
  {
    name: 'SetQuota of a fraction',
    given: AB,
    command: setQuota({ a: 0.5 }),
    code: 'invalid',
    message: /slice of a/,
  },
  {
    name: 'SetQuota for an unknown shard',
    given: AB,
    command: setQuota({ z: 1 }),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SetQuota without a region',
    given: AB,
    command: setQuota({ a: 1 }, ''),
    code: 'invalid',
    message: /quota region is empty/,
  },
  {
    name: 'SetQuota without a provider',
    given: AB,
    command: { kind: 'SetQuota', provider: '', region: 'eu', perShard: new Map() },
    code: 'invalid',
    message: /quota provider is empty/,
  },
  {
    name: 'SetQuota above the declared quota',
    given: [...AB, upsert({})],
    command: setQuota({ a: 6, b: 5 }),
    code: 'quota-exceeded',
    message: /aws\/eu sums to 11, declared 10/,
  },
  {
    name: 'UpsertProvider without a name',
    given: [],
    command: upsert({ name: '' }),
    code: 'invalid',
    message: 'ProviderEntry.Name required',
  },
  {
    name: 'UpsertProvider with a bad shard',
    given: [],
    command: upsert({ shards: ['ok', 'no/no'] }),
    code: 'invalid',
    message: /shard id "no\/no"/,
  },
  {
    name: 'UpsertProvider with too many shards',
    given: [],
    command: upsert({ shards: Array.from({ length: 1_025 }, (_, i) => `s${i}`) }),
    code: 'invalid',
    message: /more than 1024/,
  },
  {
    name: 'UpsertProvider with a negative quota',
    given: [],
    command: upsert({ declaredQuota: -1 }),
    code: 'invalid',
    message: /declared quota/,
  },
  {
    name: 'UpsertProvider with an endless name',
    given: [],
    command: upsert({ name: long }),
    code: 'invalid',
    message: /longer than/,
  },
  {
    name: 'UpsertProvider below its slices',
    given: [...AB, upsert({}), setQuota({ a: 4, b: 6 })],
    command: upsert({ declaredQuota: 9 }),
    code: 'quota-exceeded',
    message: /declared quota 9 is below/,
  },
  {
    name: 'UpsertProvider below slices and what a move owes',
    given: SHRUNK,
    command: upsert({ declaredQuota: 9 }),
    code: 'quota-exceeded',
    message: /sum to 10/,
  },
  ...[
    '',
    'host',
    'host:',
    'host:0',
    'host:65536',
    'u@host:1',
    'host:1?x',
    'unix:',
    'unix:rel',
    'http://h:1',
    'ho st:1',
    '\ud800:1',
  ].map(
    (address): RefusedCase => ({
      name: `UpsertProvider at ${JSON.stringify(address)}`,
      given: [],
      command: upsert({ address }),
      code: 'invalid',
      message: /address/,
    }),
  ),
  {
    name: 'RemoveProvider unknown',
    given: [],
    command: { kind: 'RemoveProvider', name: 'aws' },
    code: 'provider-not-found',
    message: 'coordinator: provider not found',
  },
  {
    name: 'RemoveProvider with a quota row',
    given: [...AB, upsert({}), setQuota({ a: 1 })],
    command: { kind: 'RemoveProvider', name: 'aws' },
    code: 'provider-in-use',
    message: /quota row aws\/eu/,
  },
  {
    name: 'SetProviderHome of an unknown shard',
    given: [],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SetProviderHome without an address',
    given: AB,
    command: { kind: 'SetProviderHome', providerAddress: '', shard: 'a' },
    code: 'invalid',
    message: /provider address is empty/,
  },
  {
    name: 'SetProviderHome from itself',
    given: [...AB, { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' }],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: 'a' },
    code: 'invalid',
    message: /a cannot take over from itself/,
  },
  {
    name: 'SetProviderHome from what cannot be a shard',
    given: AB,
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: '' },
    code: 'invalid',
    message: /shard/,
  },
  {
    name: 'RecordShardEpoch of an unknown shard',
    given: [],
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 1n },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RecordShardEpoch beyond an int64',
    given: AB,
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 2n ** 63n },
    code: 'invalid',
    message: /epoch/,
  },
  {
    name: 'BeginTransfer to itself',
    given: AB,
    command: begin('t1', 'a', 'a'),
    code: 'invalid',
    message: /two different shards/,
  },
  {
    name: 'BeginTransfer from an unknown shard',
    given: AB,
    command: begin('t1', 'z', 'a'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'BeginTransfer to an unknown shard',
    given: AB,
    command: begin('t1', 'a', 'z'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'BeginTransfer without an id',
    given: AB,
    command: begin(''),
    code: 'invalid',
    message: /transfer id is empty/,
  },
  {
    name: 'BeginTransfer without an address',
    given: AB,
    command: { ...begin('t1'), providerAddress: '' } as CommandBody,
    code: 'invalid',
    message: /provider address is empty/,
  },
  {
    name: 'BeginTransfer of a busy donor',
    given: [...ABC, begin('t1')],
    command: begin('t2', 'a', 'c'),
    code: 'transfer-conflict',
    message: /t1 from a to b is open/,
  },
  {
    name: 'BeginTransfer to a busy recipient',
    given: [...ABC, begin('t1')],
    command: begin('t2', 'c', 'b'),
    code: 'transfer-conflict',
    message: /t1 from a to b is open/,
  },
  {
    name: 'BeginTransfer under a used id',
    given: [...ABC, begin('t1')],
    command: begin('t1', 'b', 'c'),
    code: 'transfer-conflict',
    message: /t1/,
  },
  {
    name: 'CommitTransfer unknown',
    given: AB,
    command: commit('t1', ['m1']),
    code: 'transfer-not-found',
    message: 'coordinator: transfer not found',
  },
  {
    name: 'CommitTransfer of nothing',
    given: [...AB, begin('t1')],
    command: commit('t1', []),
    code: 'invalid',
    message: /no machine/,
  },
  {
    name: 'CommitTransfer of too many',
    given: [...AB, begin('t1')],
    command: commit(
      't1',
      Array.from({ length: 51 }, (_, i) => `m${i}`),
    ),
    code: 'invalid',
    message: /limit is 50/,
  },
  {
    name: 'CommitTransfer of one machine twice',
    given: [...AB, begin('t1')],
    command: commit('t1', ['m1', 'm1']),
    code: 'invalid',
    message: /named twice/,
  },
  {
    name: 'CommitTransfer of an empty id',
    given: [...AB, begin('t1')],
    command: commit('t1', ['']),
    code: 'invalid',
    message: /machine id is empty/,
  },
  {
    name: 'CommitTransfer of a quota move',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: commit('t1', ['m1']),
    code: 'transfer-conflict',
    message: /moves quota/,
  },
  {
    name: 'CommitTransfer again with other machines',
    given: MOVED,
    command: commit('t1', ['m2']),
    code: 'transfer-conflict',
    message: /is COMMITTED/,
  },
  {
    name: 'CommitTransfer after abort',
    given: [...AB, begin('t1'), { kind: 'AbortTransfer', id: 't1', reasonCode: 'x' }],
    command: commit('t1', ['m1']),
    code: 'transfer-conflict',
    message: /is ABORTED/,
  },
  {
    name: 'CommitTransfer after the donor went',
    given: [...AB, begin('t1'), { kind: 'RemoveShard', id: 'a' }],
    command: commit('t1', ['m1']),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'CommitTransfer to a namesake of the recipient',
    given: [...AB, begin('t1'), { kind: 'RemoveShard', id: 'b' }, addShard('b')],
    command: commit('t1', ['m1']),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: "CommitTransfer of a third shard's machine",
    given: [...MOVED, { kind: 'FinishTransfer', id: 't1' }, begin('t2', 'a', 'c')],
    command: commit('t2', ['m1']),
    code: 'override-conflict',
    message: /m1 currently on b, asked c/,
  },
  {
    name: 'CommitTransfer above the limit',
    given: [...AB, begin('t1')],
    command: commit('t1', ['m1', 'm2'], 1),
    code: 'override-limit',
    message: /limit of 1/,
  },
  {
    name: 'FinishTransfer unknown',
    given: AB,
    command: { kind: 'FinishTransfer', id: 't1' },
    code: 'transfer-not-found',
    message: 'coordinator: transfer not found',
  },
  {
    name: 'FinishTransfer before commit',
    given: [...AB, begin('t1')],
    command: { kind: 'FinishTransfer', id: 't1' },
    code: 'transfer-conflict',
    message: /is PREPARING/,
  },
  {
    name: 'AbortTransfer unknown',
    given: AB,
    command: { kind: 'AbortTransfer', id: 't1', reasonCode: '' },
    code: 'transfer-not-found',
    message: 'coordinator: transfer not found',
  },
  {
    name: 'AbortTransfer after commit',
    given: MOVED,
    command: { kind: 'AbortTransfer', id: 't1', reasonCode: '' },
    code: 'transfer-conflict',
    message: /is COMMITTED/,
  },
  {
    name: 'AbortTransfer that would lose quota',
    given: SHRUNK,
    command: { kind: 'AbortTransfer', id: 't1', reasonCode: '' },
    code: 'transfer-conflict',
    message: /not given its quota back/,
  },
  {
    name: 'ClearOverrides of too many',
    given: AB,
    command: {
      kind: 'ClearOverrides',
      machineIds: Array.from({ length: 101 }, (_, i) => `m${i}`),
      owner: 'a',
    },
    code: 'invalid',
    message: /limit is 100/,
  },
  {
    name: 'MoveQuota of nothing',
    given: SHRUNK,
    command: move('GROW', 0),
    code: 'invalid',
    message: /of nothing/,
  },
  {
    name: 'MoveQuota unknown',
    given: AB,
    command: move('SHRINK'),
    code: 'transfer-not-found',
    message: 'coordinator: transfer not found',
  },
  {
    name: 'MoveQuota in a transfer of machines',
    given: [...AB, begin('t1')],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /moves machines/,
  },
  {
    name: 'MoveQuota between other shards',
    given: [...AB, begin('t1', 'b', 'a', 2)],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /from b to a/,
  },
  {
    name: 'MoveQuota of another count',
    given: SHRUNK,
    command: move('GROW', 3),
    code: 'transfer-conflict',
    message: /another quota/,
  },
  {
    name: 'SHRINK below zero',
    given: [...AB, upsert({}), setQuota({ a: 1 }), begin('t1', 'a', 'b', 2)],
    command: move('SHRINK'),
    code: 'quota-exceeded',
    message: /a holds 1/,
  },
  {
    name: 'SHRINK without a row',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('SHRINK'),
    code: 'quota-exceeded',
    message: /a holds 0/,
  },
  {
    name: 'SHRINK after the donor went',
    given: [...AB, setQuota({ a: 5 }), begin('t1', 'a', 'b', 2), { kind: 'RemoveShard', id: 'a' }],
    command: move('SHRINK'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SHRINK again after RESTORE',
    given: [...SHRUNK, move('RESTORE')],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'GROW without SHRINK',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /not shrunk/,
  },
  {
    name: 'GROW after RESTORE',
    given: [...SHRUNK, move('RESTORE')],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'GROW after the recipient went',
    given: [...SHRUNK, { kind: 'RemoveShard', id: 'b' }],
    command: move('GROW'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'GROW after the row was set by hand',
    given: [...SHRUNK, setQuota({ a: 2, b: 8 })],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'RESTORE without SHRINK',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('RESTORE'),
    code: 'transfer-conflict',
    message: /not shrunk/,
  },
  {
    name: 'RESTORE after GROW',
    given: [...SHRUNK, move('GROW')],
    command: move('RESTORE'),
    code: 'transfer-conflict',
    message: /GROWN/,
  },
  {
    name: 'RestoreTransfer to an unknown shard',
    given: AB,
    command: restored('t1', 'a', 'z', ['m1']),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RestoreTransfer to itself',
    given: AB,
    command: restored('t1', 'a', 'a', ['m1']),
    code: 'invalid',
    message: /two different shards/,
  },
  {
    name: 'RestoreTransfer of nothing',
    given: AB,
    command: restored('t1', 'a', 'b', []),
    code: 'invalid',
    message: /no machine/,
  },
  {
    name: "RestoreTransfer under another's id",
    given: [...ABC, begin('t1')],
    command: restored('t1', 'b', 'c', ['m1']),
    code: 'transfer-conflict',
    message: /from a to b/,
  },
  {
    name: "RestoreTransfer of a third shard's machine",
    given: MOVED,
    command: restored('t9', 'a', 'c', ['m1']),
    code: 'override-conflict',
    message: /currently on b, asked c/,
  },
  {
    name: 'RestoreOverride of an unknown shard',
    given: AB,
    command: { kind: 'RestoreOverride', machineId: 'm', owner: 'z', transferId: 't' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RestoreOverride against the ledger',
    given: MOVED,
    command: { kind: 'RestoreOverride', machineId: 'm1', owner: 'a', transferId: 't' },
    code: 'override-conflict',
    message: /currently on b, asked a/,
  },
  {
    name: 'RestoreOverride without a machine',
    given: AB,
    command: { kind: 'RestoreOverride', machineId: '', owner: 'a', transferId: 't' },
    code: 'invalid',
    message: /machine id is empty/,
  },
  {
    name: 'a kind that does not exist',
    given: [],
    command: { kind: 'Nonsense' } as never,
    code: 'invalid',
    message: 'unknown command kind Nonsense',
  },
];

interface UnchangedCase {
  readonly name: string;
  readonly given: readonly CommandBody[];
  readonly command: CommandBody;
}

const UNCHANGED: readonly UnchangedCase[] = [
  { name: 'BindCluster again', given: [...AB, bind('a')], command: bind('a') },
  { name: 'AssignDomain again', given: [...AB, assign('a')], command: assign('a') },
  { name: 'UnassignDomain of nothing', given: AB, command: unassign },
  { name: 'UnassignDomain again', given: [...AB, assign('a'), unassign], command: unassign },
  {
    name: 'UnassignDomain of a dead row',
    given: [...AB, assign('a'), { kind: 'RemoveShard', id: 'a' }],
    command: unassign,
  },
  {
    name: 'SetQuota again',
    given: [...AB, setQuota({ b: 1, a: 2 })],
    command: setQuota({ a: 2, b: 1 }),
  },
  { name: 'SetQuota empty without a row', given: AB, command: setQuota({}) },
  {
    name: 'UpsertProvider again, shards in another order',
    given: [upsert({ shards: ['x', 'a'] })],
    command: upsert({ shards: ['a', 'x', 'a'] }),
  },
  {
    name: 'UnbindCluster of nothing',
    given: AB,
    command: { kind: 'UnbindCluster', cluster: 'c1' },
  },
  {
    name: 'DomainReleased of an assigned domain',
    given: [...AB, assign('a')],
    command: { kind: 'DomainReleased', domain: DOMAIN, shard: 'a' },
  },
  {
    name: 'DomainReleased by another shard',
    given: [...AB, assign('a'), unassign],
    command: { kind: 'DomainReleased', domain: DOMAIN, shard: 'b' },
  },
  {
    name: 'SetProviderHome of a live home',
    given: [...AB, { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' }],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'b' },
  },
  {
    name: 'SetProviderHome from a shard that is not the home any more',
    given: [
      ...AB,
      { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' },
      { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'b', from: 'a' },
    ],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: 'c' },
  },
  {
    name: 'RecordShardEpoch of an old epoch',
    given: [...AB, { kind: 'RecordShardEpoch', shard: 'a', epoch: 3n }],
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 3n },
  },
  { name: 'BeginTransfer again', given: [...AB, begin('t1')], command: begin('t1') },
  { name: 'CommitTransfer again', given: MOVED, command: commit('t1', ['m1']) },
  {
    name: 'FinishTransfer again',
    given: [...MOVED, { kind: 'FinishTransfer', id: 't1' }],
    command: { kind: 'FinishTransfer', id: 't1' },
  },
  {
    name: 'AbortTransfer again',
    given: [...AB, begin('t1'), { kind: 'AbortTransfer', id: 't1', reasonCode: 'x' }],
    command: { kind: 'AbortTransfer', id: 't1', reasonCode: 'y' },
  },
  {
    name: 'ClearOverrides of another owner',
    given: MOVED,
    command: { kind: 'ClearOverrides', machineIds: ['m1'], owner: 'a' },
  },
  { name: 'SHRINK again', given: SHRUNK, command: move('SHRINK') },
  { name: 'GROW again', given: [...SHRUNK, move('GROW')], command: move('GROW') },
  { name: 'RESTORE again', given: [...SHRUNK, move('RESTORE')], command: move('RESTORE') },
  {
    name: 'RESTORE after the row was set by hand',
    given: [...SHRUNK, setQuota({ a: 2 })],
    command: move('RESTORE'),
  },
  {
    name: 'GcTransfers of open and young ones',
    given: MOVED,
    command: { kind: 'GcTransfers', beforeMs: Number.MAX_SAFE_INTEGER },
  },
  {
    name: 'RestoreTransfer of a committed one',
    given: MOVED,
    command: restored('t1', 'a', 'b', ['m1']),
  },
  {
    name: 'RestoreOverride again',
    given: MOVED,
    command: { kind: 'RestoreOverride', machineId: 'm1', owner: 'b', transferId: 'other' },
  },
];

function machineAfter(given: readonly CommandBody[]): StateMachine {
  const machine = new StateMachine();
  for (const body of given)
    assert.equal(machine.apply(body).kind, 'applied', JSON.stringify(body, text));
  return machine;
}

const text = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

function refusalOf(result: StepResult): { readonly code: string; readonly message: string } {
  assert.equal(result.kind, 'refused');
  return result.kind === 'refused' ? result.refusal : assert.fail();
}

for (const { name, given, command, code, message } of REFUSED) {
  test(`refused: ${name}`, () => {
    const machine = machineAfter(given);
    const before = machine.state.meta;
    const refusal = refusalOf(machine.apply(command));
    assert.equal(refusal.code, code);
    if (typeof message === 'string') assert.equal(refusal.message, message);
    else assert.match(refusal.message, message);
    assert.equal(machine.state.meta, before);
  });
}

for (const { name, given, command } of UNCHANGED) {
  test(`already so: ${name}`, () => {
    assert.deepEqual(machineAfter(given).apply(command), { kind: 'unchanged' });
  });
}

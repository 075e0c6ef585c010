// Proves that a logical snapshot is byte-stable (written, loaded and written again it is the same),
// that it keeps the established shape, and that rows a live command would refuse are reported.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FleetState } from '../state/fleet-state.ts';
import { arbitraryCommand } from '../state/testing/arbitrary-commands.ts';
import { StateMachine } from '../state/testing/state-machine.ts';
import { encodeLogical } from '../store/logical-snapshot.ts';
import { loadLogical } from './load-logical.ts';
import type { SnapshotMeta } from './snapshot-meta.ts';

const HOUR_MS = 3_600_000;

function archiveOf(index: number, clusterUid: string): SnapshotMeta {
  return {
    version: 1,
    id: 'x',
    index,
    term: 1,
    storeRaftTerm: 0,
    engine: 'sqlite',
    format: 'logical-json',
    clusterUid,
    createdAt: '2026-01-01T00:00:00.000Z',
    sha256: '0'.repeat(64),
    size: 1,
  };
}

const BARE = archiveOf(5, 'u');

test('written, loaded, written again: the same bytes, nothing rejected', () => {
  const streams = fc.array(fc.tuple(arbitraryCommand, fc.constantFrom(0, 7 * HOUR_MS)), {
    minLength: 10,
    maxLength: 100,
  });
  fc.assert(
    fc.property(streams, (stream) => {
      const machine = new StateMachine();
      for (const [body, stepMs] of stream) {
        machine.nowMs += stepMs;
        machine.apply(body);
      }
      const { meta } = machine.state;
      const text = encodeLogical(machine.state);
      const { loaded, rejected } = loadLogical(text, archiveOf(meta.applyIndex, meta.clusterUid));
      assert.deepEqual(rejected, []);
      assert.equal(encodeLogical(new FleetState(loaded)), text);
    }),
    { numRuns: 200 },
  );
});

test('the established keys keep their shape, sorted, whatever the names are', () => {
  const machine = new StateMachine();
  const add = (id: string): void =>
    void machine.apply({ kind: 'AddShard', id, address: 'h:1', registeredAtMs: 3 });
  add('b');
  add('a');
  for (const cluster of ['__proto__', '10', '9'])
    machine.apply({ kind: 'BindCluster', cluster, shard: 'a', force: false });
  machine.apply({ kind: 'AssignDomain', domain: { key: 'k', value: 'v' }, shard: 'b' });
  const lines = encodeLogical(machine.state).split('\n');
  const at = lines.indexOf('"cluster_to_shard":{');
  assert.deepEqual(lines.slice(at, at + 5), [
    '"cluster_to_shard":{',
    '"10":"a",',
    '"9":"a",',
    '"__proto__":"a"',
    '},',
  ]);
  const json = JSON.parse(lines.join('\n')) as Record<string, unknown[]>;
  assert.deepEqual(
    json['shards']?.map((row) => (row as { id: string }).id),
    ['a', 'b'],
  );
  assert.deepEqual(json['domain_to_shard'], [
    { domain: { key: 'k', value: 'v' }, shard: 'b', state: 'ASSIGNED', revision: 1 },
  ]);
});

test('a document with only the established keys is taken', () => {
  const source = JSON.stringify({
    shards: [{ id: 'a', address: 'a:1', registered_at_ms: 4, uid: 2, max_epoch: '7', later: 1 }],
    cluster_to_shard: { c: 'a' },
    domain_to_shard: [{ domain: { key: 'k', value: 'v' }, shard: 'a' }],
    future: [{}],
  });
  const { loaded, rejected } = loadLogical(source, BARE);
  const state = new FleetState(loaded);
  assert.deepEqual(rejected, []);
  assert.deepEqual([state.meta.applyIndex, state.meta.clusterUid], [5, 'u']);
  assert.equal(state.cluster('c')?.shardId, 'a');
  assert.equal(state.domain({ key: 'k', value: 'v' })?.state, 'ASSIGNED');
  assert.equal(state.shard('a')?.maxEpoch, 7n);
});

const A = { id: 'a', address: 'a:1', registered_at_ms: 4, uid: 2, max_epoch: '0' };
const transfer = {
  id: 't',
  from: 'z',
  from_uid: 1,
  to: 'a',
  to_uid: 2,
  tier: 1,
  phase: 'DONE',
  provider_address: 'p:1',
  machine_ids: ['m'],
  reason_code: '',
  created_at_ms: 0,
  updated_at_ms: 0,
  selector: null,
  quota: null,
};
const provider = { name: 'p', address: 'p:1', region: 'r', declared_quota: 2, shards: [] };
const slice = (shard_id: string, size: number): unknown => ({
  shard_id,
  shard_uid: 2,
  slice: size,
});

const REJECTED: readonly [string, Record<string, unknown>, RegExp][] = [
  ['a shard of no name', { shards: [{ ...A, id: '' }] }, /ID required/],
  ['a shard twice', { shards: [A, { ...A, uid: 3 }] }, /already registered/],
  ['two shards of one uid', { shards: [A, { ...A, id: 'b' }] }, /uid 2/],
  ['a uid of the future', { shards: [{ ...A, uid: 6 }] }, /uid 6/],
  [
    'a shard without an epoch',
    { shards: [{ ...A, max_epoch: undefined }] },
    /max_epoch: is missing/,
  ],
  ['a cluster on no shard', { cluster_to_shard: { c: 'z' } }, /shard not found/],
  ['a cluster on a number', { shards: [A], cluster_to_shard: { c: 1 } }, /not a string/],
  [
    'a domain on no shard',
    { domain_to_shard: [{ domain: { key: 'k', value: 'v' }, shard: 'z' }] },
    /shard not found/,
  ],
  [
    'a domain twice',
    {
      shards: [A],
      domain_to_shard: [1, 2].map(() => ({ domain: { key: 'k', value: 'v' }, shard: 'a' })),
    },
    /nothing new/,
  ],
  [
    'a quota above the declared',
    {
      shards: [A],
      providers: [provider],
      quotas: [{ provider: 'p', region: 'r', slices: [slice('a', 3)] }],
    },
    /declared 2/,
  ],
  [
    'two slices of a shard',
    {
      shards: [A],
      quotas: [{ provider: 'p', region: 'r', slices: [slice('a', 1), slice('a', 2)] }],
    },
    /two slices/,
  ],
  [
    'a quota row twice',
    {
      shards: [A],
      quotas: [1, 2].map((size) => ({ provider: 'p', region: 'r', slices: [slice('a', size)] })),
    },
    /twice/,
  ],
  ['a provider with a query', { providers: [{ ...provider, address: 'p:1?x' }] }, /host:port/],
  [
    'a home on no shard',
    { provider_homes: [{ provider_address: 'p', shard_id: 'z', shard_uid: 2 }] },
    /shard not found/,
  ],
  [
    'an override of no shard',
    { overrides: [{ machine_id: 'm', owner: 'z', owner_uid: 1, transfer_id: 't' }] },
    /shard not found/,
  ],
  ['a transfer to itself', { transfers: [{ ...transfer, from: 'a' }] }, /two different/],
  [
    'a finished transfer of nothing',
    { transfers: [{ ...transfer, machine_ids: [] }] },
    /no machine/,
  ],
  [
    'an open transfer with machines',
    { transfers: [{ ...transfer, phase: 'PREPARING' }] },
    /moved nothing/,
  ],
  [
    'a quota move without its end',
    { transfers: [{ ...transfer, tier: 2, machine_ids: [] }] },
    /disagree/,
  ],
  ['an unknown phase', { transfers: [{ ...transfer, phase: 'LOST' }] }, /none of PREPARING/],
  ['a row that is no object', { shards: [7] }, /not an object/],
];

for (const [name, sections, reason] of REJECTED) {
  test(`reported, and the rest stands: ${name}`, () => {
    const source = JSON.stringify({
      ...sections,
      shards: [...((sections['shards'] as unknown[]) ?? []), { ...A, id: 'last', uid: 4 }],
    });
    const { loaded, rejected } = loadLogical(source, BARE);
    assert.equal(rejected.length, 1, JSON.stringify(rejected));
    assert.match(rejected[0]?.reason ?? '', reason);
    assert.notEqual(new FleetState(loaded).shard('last'), undefined);
  });
}

for (const [name, source, reason] of [
  ['no JSON', '{', /not JSON/],
  ['no object', '[]', /not an object/],
  ['a section that is no list', '{"shards":{}}', /shards is not a list/],
  ['a newer schema', '{"meta":{"schema":2}}', /schema 2 is newer/],
  [
    'another index',
    '{"meta":{"schema":1,"cluster_uid":"u","term":"1","apply_index":9,"last_command_id":"","assignment_revision":0,"ledger_generation":0}}',
    /another state/,
  ],
] as const) {
  test(`refused as a whole: ${name}`, () => {
    assert.throws(() => loadLogical(source, BARE), { code: 'snapshot_malformed', message: reason });
  });
}

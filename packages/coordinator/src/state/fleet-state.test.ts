// Proves that lists handed out do not change under their reader, and that a fleet of 100,000 domains
// loads, answers by owner and loses a shard without walking tables per read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from './decide/decide.ts';
import { FleetState } from './fleet-state.ts';
import { keyOfRow } from './keys.ts';
import { encodeRow } from './row-format.ts';
import type { DomainRow } from './rows.ts';
import { SortedRows } from './tables.ts';
import { FIRST_META, StateMachine } from './testing/state-machine.ts';

test('a list stays as it was when the state moves on', () => {
  const machine = new StateMachine();
  const add = (id: string): void =>
    void machine.apply({ kind: 'AddShard', id, address: 'h:1', registeredAtMs: 1 });
  add('b');
  const before = machine.state.shards();
  add('a');
  machine.apply({ kind: 'RemoveShard', id: 'b' });
  assert.deepEqual(
    before.map(({ id }) => id),
    ['b'],
  );
  assert.deepEqual(
    machine.state.shards().map(({ id }) => id),
    ['a'],
  );
});

test('sorted rows keep order through puts, replacements and removals', () => {
  const rows = new SortedRows<readonly [number, string]>((a, b) => a[0] - b[0]);
  for (const key of [5, 1, 3, 1]) rows.put([key, `first ${key}`]);
  rows.put([3, 'second']);
  rows.remove([5, '']);
  rows.remove([4, '']);
  assert.deepEqual(rows.all(), [
    [1, 'first 1'],
    [3, 'second'],
  ]);
});

test('100,000 domains: owners answer from their own rows, and removal kills exactly theirs', () => {
  const SHARDS = 200;
  const DOMAINS = 100_000;
  const shards = Array.from({ length: SHARDS }, (_, at) => ({
    id: `s${at}`,
    address: 'h:1',
    registeredAtMs: 0,
    uid: at + 1,
    maxEpoch: 0n,
  }));
  const domains = Array.from({ length: DOMAINS }, (_, at): DomainRow => {
    const owner = at % SHARDS;
    const place = { key: 'rack', value: `r${at}` };
    return { ...place, shardId: `s${owner}`, shardUid: owner + 1, state: 'ASSIGNED', revision: 1 };
  });
  const rows = [
    ...shards.map((row) => ({
      table: 'shards' as const,
      key: keyOfRow('shards', row),
      value: encodeRow('shards', row),
    })),
    ...domains.map((row) => ({
      table: 'domains' as const,
      key: keyOfRow('domains', row),
      value: encodeRow('domains', row),
    })),
  ];
  const state = new FleetState({ meta: { ...FIRST_META, applyIndex: SHARDS }, rows });
  assert.equal(state.domainsOf('s7').length, DOMAINS / SHARDS);
  assert.equal(state.domainsOf('s7'), state.domainsOf('s7'), 'not computed per call');
  const command = { kind: 'RemoveShard', id: 's7', commandId: 'c', issuedAtMs: 0 } as const;
  const decision = decide(state, command, SHARDS + 1);
  assert.ok(decision.kind === 'change');
  assert.equal(decision.change.writes.length, 1);
  assert.equal(decision.change.gc.length, DOMAINS / SHARDS);
  state.install(decision.change, 'c');
  assert.equal(state.domains().length, DOMAINS - DOMAINS / SHARDS);
  assert.deepEqual(state.domainsOf('s7'), []);
  assert.equal(state.dangling().length, DOMAINS / SHARDS);
  state.forget(decision.change.gc);
  assert.deepEqual(state.dangling(), []);
});

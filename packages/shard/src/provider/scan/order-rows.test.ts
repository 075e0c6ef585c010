// Proves that rows come out in the order of their ids' bytes, whatever the ids are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { State } from '@bigfleet/engine';
import { decodeMachineList } from '../list/decode-list.ts';
import { encodeRecords, record } from '../reconcile/testing/world.ts';
import { RowOrder } from './order-rows.ts';

function ordered(ids: readonly string[]): string[] {
  const columns = decodeMachineList(encodeRecords(...ids.map((id) => record(id, State.Idle))));
  const { bytes, rows } = columns.data;
  const order = Uint32Array.from(ids, (_, row) => row);
  new RowOrder(bytes, rows).sort(order);
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    ids.map((_, row) => row),
    'every row once',
  );
  return [...order].map((row) => columns.id(row));
}

function byBytes(ids: readonly string[]): string[] {
  return ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

test('long prefixes, equal ids, prefixes of each other, nothing at all', () => {
  const prefix = 'provider/OnDemand/type/zone/';
  const numbered = Array.from({ length: 500 }, (_, i) => `${prefix}${(i * 7919) % 500}`);
  const nested = Array.from({ length: 60 }, (_, i) => 'a'.repeat((i * 37) % 60));
  for (const ids of [numbered, nested, [...numbered, ...nested, ...numbered], [], ['x']]) {
    assert.deepEqual(ordered(ids), byBytes(ids));
  }
});

test('ids of a megabyte cost no stack', () => {
  const prefix = 'x'.repeat(1_000_000);
  assert.equal(ordered([`${prefix}b`, `${prefix}a`, 'a']).at(0), 'a');
});

test('property: any ids', () => {
  const id = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('ü', 'üb', 'a-b', '日'));
  fc.assert(
    fc.property(fc.array(id, { maxLength: 80 }), (ids) => {
      assert.deepEqual(ordered(ids), byBytes(ids));
    }),
  );
});

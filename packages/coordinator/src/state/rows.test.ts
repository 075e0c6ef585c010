// Proves that keys and stored rows come back exactly as written, whatever is in them, and that
// anything else in a store is refused with its place.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyOfRow, parseRowKey, rowKey } from './keys.ts';
import { decodeStoredRow, encodeRow } from './row-format.ts';
import type { OverrideRow, ShardRow, TransferRow } from './rows.ts';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

test('a key carries any segment and comes back', () => {
  fc.assert(
    fc.property(words, words, (key, value) => {
      const text = rowKey('domains', key, value);
      assert.match(text, /^domains\/[^/]+\/[^/]+$/);
      assert.deepEqual(parseRowKey(text), { table: 'domains', segments: [key, value] });
    }),
  );
  assert.equal(rowKey('overrides', 'a/b%c ü'), 'overrides/a%2Fb%25c%20%C3%BC');
});

for (const key of [
  '',
  'shards',
  'shards/a/b',
  'domains/a',
  'nothing/a',
  'shards/%',
  'shards/%61',
  'shards/%ZZ',
  'shards/a b',
  'meta/term',
  '__proto__/a',
  rowKey('shards', '\ud800'),
]) {
  test(`no key of ours: ${JSON.stringify(key)}`, () => {
    assert.equal(parseRowKey(key), undefined);
  });
}

const SHARD: ShardRow = {
  id: 'a',
  address: 'a:1',
  registeredAtMs: 2,
  uid: 3,
  maxEpoch: 2n ** 63n - 1n,
};

test('the bytes of a row are fixed: order, names, integers as text beyond 2^53', () => {
  assert.equal(
    encodeRow('shards', SHARD),
    '{"id":"a","address":"a:1","registered_at_ms":2,"uid":3,"max_epoch":"9223372036854775807"}',
  );
  assert.deepEqual(decodeStoredRow('shards', 'shards/a', encodeRow('shards', SHARD)), SHARD);
});

test('any transfer row comes back', () => {
  const row = fc.record<TransferRow>({
    id: words,
    from: words,
    fromUid: fc.nat(),
    to: words,
    toUid: fc.nat(),
    tier: fc.constantFrom(1, 2),
    phase: fc.constantFrom('PREPARING', 'COMMITTED', 'DONE', 'ABORTED'),
    providerAddress: words,
    machineIds: fc.array(words),
    reasonCode: fc.string({ unit: 'grapheme' }),
    createdAtMs: fc.maxSafeNat(),
    updatedAtMs: fc.maxSafeNat(),
    selector: fc.option(
      fc.record({
        instanceType: words,
        zone: words,
        count: fc.nat(),
        requirements: fc.array(
          fc.record({ key: words, operator: fc.nat(), values: fc.array(words) }),
        ),
        deficit: fc.array(fc.tuple(words, words)),
        minUnit: fc.array(fc.tuple(words, words)),
        interruptionPenaltyBucket: fc.nat(),
      }),
    ),
    quota: fc.option(
      fc.record({
        provider: words,
        region: words,
        count: fc.nat(),
        step: fc.constantFrom('SHRUNK', 'GROWN', 'RESTORED'),
      }),
    ),
  });
  fc.assert(
    fc.property(row, (drawn) => {
      const value = structuredClone(drawn);
      const key = keyOfRow('transfers', value);
      assert.deepEqual(decodeStoredRow('transfers', key, encodeRow('transfers', value)), value);
    }),
  );
});

test('a machine named __proto__ is data', () => {
  const row: OverrideRow = { machineId: '__proto__', owner: 'a', ownerUid: 1, transferId: 't' };
  const decoded = decodeStoredRow('overrides', 'overrides/__proto__', encodeRow('overrides', row));
  assert.deepEqual(decoded, row);
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
});

const good = JSON.parse(encodeRow('shards', SHARD)) as Record<string, unknown>;
const BAD: readonly [string, string, RegExp][] = [
  ['no JSON', '{', /shards\/a: is not JSON/],
  ['a list', '[]', /not an object/],
  ['null', 'null', /not an object/],
  ['a missing field', JSON.stringify({ ...good, uid: undefined }), /shards\/a\.uid: is missing/],
  ['an unknown field', JSON.stringify({ ...good, color: 1 }), /unknown key "color"/],
  ['a prototype', '{"__proto__":{"id":"a"},"address":"a:1"}', /unknown key "__proto__"/],
  ['a fraction', JSON.stringify({ ...good, uid: 1.5 }), /whole number/],
  ['a negative', JSON.stringify({ ...good, uid: -1 }), /whole number/],
  ['minus zero', JSON.stringify(good).replace('"uid":3', '"uid":-0'), /whole number/],
  ['an epoch as number', JSON.stringify({ ...good, max_epoch: 1 }), /decimal string/],
  ['an epoch with a zero in front', JSON.stringify({ ...good, max_epoch: '01' }), /decimal string/],
  ['an epoch beyond int64', JSON.stringify({ ...good, max_epoch: '9223372036854775808' }), /int64/],
  ['half a surrogate', JSON.stringify({ ...good, address: '\ud800' }), /well-formed/],
];

for (const [name, value, message] of BAD) {
  test(`no row of ours: ${name}`, () => {
    assert.throws(() => decodeStoredRow('shards', 'shards/a', value), {
      code: 'coordinator_row_malformed',
      message,
    });
  });
}

test('a row under the key of another is refused', () => {
  const value = encodeRow('shards', SHARD);
  for (const key of ['shards/b', 'clusters/a'])
    assert.throws(() => decodeStoredRow('shards', key, value), {
      code: 'coordinator_row_malformed',
    });
});

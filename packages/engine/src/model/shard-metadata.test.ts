// Proves that an assignment survives the provider's store, and that no echo, however broken, can
// throw or take the good values down with the bad ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bucketUpperBoundDollars,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  type PenaltyBucket,
  ZERO_BUCKET,
} from '@bigfleet/base';
import fc from 'fast-check';
import { type Assignment, noAssignment } from './machine.ts';
import {
  decodeShardMetadata,
  encodeShardMetadata,
  MAX_FINGERPRINT_LENGTH,
  MAX_GROUP_LENGTH,
  shardMetadataKeys,
} from './shard-metadata.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);
const { priority, interruptionPenalty, reclamationPenalty, needFingerprint, group } =
  shardMetadataKeys;
const known: Assignment = {
  priority: 7,
  interruptionBucket: 5 as PenaltyBucket,
  reclamationBucket: 6 as PenaltyBucket,
  needFingerprint: 'known',
  group: 'known-group',
};

test('the keys and the texts are the external format', () => {
  const encoded = encodeShardMetadata({
    priority: -2147483648,
    interruptionBucket: PINNED_BUCKET,
    reclamationBucket: 2 as PenaltyBucket,
    needFingerprint: 'p=0|ipb=1|rpb=1|reqs=|spr=',
    group: 'ns\0gang',
  });
  assert.deepEqual(encoded, {
    'bigfleet.lucy.sh/assigned-priority': '-2147483648',
    'bigfleet.lucy.sh/assigned-interruption-penalty-dollars': '+Inf',
    'bigfleet.lucy.sh/assigned-reclamation-penalty-dollars': '0.5',
    'bigfleet.lucy.sh/assigned-need-fingerprint': 'p=0|ipb=1|rpb=1|reqs=|spr=',
    'bigfleet.lucy.sh/assigned-group': 'ns\0gang',
  });
});

test(`every assignment survives the round trip, through JSON too (seed ${seed})`, () => {
  const assignment: fc.Arbitrary<Assignment> = fc.record(
    {
      priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      interruptionBucket: fc.constantFrom(...PENALTY_BUCKETS),
      reclamationBucket: fc.constantFrom(...PENALTY_BUCKETS),
      needFingerprint: fc.string({ unit: 'binary' }),
      group: fc.string({ unit: 'binary' }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(assignment, (assigned) => {
      const encoded = encodeShardMetadata(assigned);
      assert.deepEqual(decodeShardMetadata(encoded), { assigned, problems: [] });
      const stored = JSON.parse(JSON.stringify(encoded)) as Record<string, string>;
      assert.deepEqual(decodeShardMetadata(stored, known), { assigned, problems: [] });
    }),
    { seed, numRuns: 500 },
  );
});

test('every bucket keeps its dollars', () => {
  for (const bucket of PENALTY_BUCKETS) {
    const encoded = encodeShardMetadata({ ...noAssignment, interruptionBucket: bucket });
    const text = encoded[interruptionPenalty] ?? '';
    if (bucket === PINNED_BUCKET) assert.equal(text, '+Inf');
    else assert.equal(Number(text), bucketUpperBoundDollars(bucket));
    assert.equal(decodeShardMetadata(encoded).assigned.interruptionBucket, bucket);
  }
});

test('an absent key leaves its field, an unknown key and an empty map change nothing', () => {
  assert.deepEqual(decodeShardMetadata({}), { assigned: noAssignment, problems: [] });
  assert.deepEqual(decodeShardMetadata({}, known), { assigned: known, problems: [] });
  const foreign = { 'bigfleet.lucy.sh/assigned-colour': 'red', priority: '5', __proto__: '1' };
  assert.deepEqual(decodeShardMetadata(foreign, known), { assigned: known, problems: [] });
  const one = decodeShardMetadata({ [group]: '' }, known);
  assert.deepEqual(one, { assigned: { ...known, group: '' }, problems: [] });
});

test('an inherited key is absent', () => {
  const inherited = Object.create({ [priority]: '9' }) as Record<string, string>;
  assert.equal(decodeShardMetadata(inherited, known).assigned.priority, 7);
});

test('a malformed value is skipped and named while the others apply', () => {
  const decoded = decodeShardMetadata(
    {
      [priority]: '12x',
      [interruptionPenalty]: '5',
      [reclamationPenalty]: 'much',
      [needFingerprint]: 'v9|whatever',
      [group]: 'g',
    },
    known,
  );
  assert.deepEqual(decoded.assigned, {
    priority: 7,
    interruptionBucket: 6,
    reclamationBucket: 6,
    needFingerprint: 'v9|whatever',
    group: 'g',
  });
  assert.deepEqual(decoded.problems, [
    { key: priority, value: '12x', problem: 'not_an_int32' },
    { key: reclamationPenalty, value: 'much', problem: 'not_dollars' },
  ]);
});

test('priorities: int32 in decimal, nothing else', () => {
  const rows: readonly [string, number | undefined][] = [
    ['0', 0],
    ['-0', 0],
    ['+5', 5],
    ['007', 7],
    ['2147483647', 2 ** 31 - 1],
    ['-2147483648', -(2 ** 31)],
    ['2147483648', undefined],
    ['-2147483649', undefined],
    ['9'.repeat(64), undefined],
    ['0'.repeat(65), undefined],
    ['', undefined],
    [' 1', undefined],
    ['1 ', undefined],
    ['1\n', undefined],
    ['1.0', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['١', undefined],
    ['-', undefined],
  ];
  for (const [text, expected] of rows) {
    const { assigned, problems } = decodeShardMetadata({ [priority]: text }, known);
    assert.ok(Object.is(assigned.priority, expected ?? known.priority), JSON.stringify(text));
    assert.equal(problems.length, expected === undefined ? 1 : 0, JSON.stringify(text));
  }
});

test('penalties: any spelling of a float, rounded up to its bucket', () => {
  const rows: readonly [string, number | undefined][] = [
    ['0', ZERO_BUCKET],
    ['-0', ZERO_BUCKET],
    ['-3.5', ZERO_BUCKET],
    ['-1e999', ZERO_BUCKET],
    ['1e-400', ZERO_BUCKET],
    ['0.25', 2],
    ['.5', 2],
    ['0.51', 3],
    ['1.', 3],
    ['1.01', 4],
    ['8.388608e+06', 26],
    ['8388608', 26],
    ['8388608.5', PINNED_BUCKET],
    ['2E7', PINNED_BUCKET],
    ['1e999', PINNED_BUCKET],
    ['+Inf', PINNED_BUCKET],
    ['Inf', PINNED_BUCKET],
    ['inf', PINNED_BUCKET],
    ['Infinity', PINNED_BUCKET],
    ['-Inf', undefined],
    ['NaN', undefined],
    ['nan', undefined],
    ['null', undefined],
    ['', undefined],
    ['.', undefined],
    ['e5', undefined],
    ['1e', undefined],
    ['0x1p3', undefined],
    ['1,5', undefined],
    ['1 000', undefined],
    [' 1', undefined],
    ['$5', undefined],
    [`0.${'0'.repeat(70)}1`, undefined],
  ];
  for (const [text, expected] of rows) {
    const { assigned, problems } = decodeShardMetadata({ [interruptionPenalty]: text }, known);
    const where = JSON.stringify(text);
    assert.equal(assigned.interruptionBucket, expected ?? known.interruptionBucket, where);
    assert.equal(problems.length, expected === undefined ? 1 : 0, where);
  }
});

test('texts beyond their bounds are skipped, and what is shown of them is short', () => {
  const long = { [needFingerprint]: 'f'.repeat(MAX_FINGERPRINT_LENGTH + 1), [group]: 'g' };
  const { assigned, problems } = decodeShardMetadata(long, known);
  assert.deepEqual(assigned, { ...known, group: 'g' });
  assert.deepEqual(problems, [
    { key: needFingerprint, value: 'f'.repeat(64), problem: 'too_long' },
  ]);
  const fits = {
    [needFingerprint]: 'f'.repeat(MAX_FINGERPRINT_LENGTH),
    [group]: 'g'.repeat(MAX_GROUP_LENGTH),
  };
  assert.deepEqual(decodeShardMetadata(fits).problems, []);
  assert.equal(
    decodeShardMetadata({ [group]: 'g'.repeat(MAX_GROUP_LENGTH + 1) }).problems.length,
    1,
  );
});

test(`no text makes decoding throw or leave its ranges (seed ${seed})`, () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('0', '9', '.', '-', '+', 'e', 'I', 'n', 'f', 'N', 'a') }),
  );
  const keys = Object.values(shardMetadataKeys);
  const metadata = fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), text);
  fc.assert(
    fc.property(metadata, (echo) => {
      const { assigned, problems } = decodeShardMetadata(echo, known);
      assert.ok(Number.isInteger(assigned.priority) && Math.abs(assigned.priority) <= 2 ** 31);
      for (const bucket of [assigned.interruptionBucket, assigned.reclamationBucket]) {
        assert.ok(PENALTY_BUCKETS.includes(bucket));
      }
      assert.ok(problems.length <= 5);
    }),
    { seed, numRuns: 1000 },
  );
});

// Proves that reading by rows answers exactly what a full decoding by the protobuf library answers, for
// any sequence of roll-ups: changed, reordered, doubled and dropped rows, new times, bad rows, damaged
// bytes, and rows of any fields in any order; and that equal parts of needs are one object.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRollup, type Need, type Profile, type WireRollup } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, decode, encodeInit, Operator } from '@bigfleet/wire';
import fc from 'fast-check';
import { FieldReader } from '../session/field-reader.ts';
import { sharedParts } from './demand-listing.ts';
import { RollupRows } from './rows.ts';

interface RowPlan {
  readonly cores: number;
  readonly pool: number;
  readonly group: string;
  readonly isBad: boolean;
}

interface RollupPlan {
  readonly rows: readonly RowPlan[];
  readonly atNanos: number;
  readonly clusterId: string;
  /** A byte that is overwritten, if the roll-up has it. */
  readonly damageAt: number | undefined;
}

const row = fc.record<RowPlan>({
  cores: fc.integer({ min: 0, max: 3 }),
  pool: fc.integer({ min: 0, max: 2 }),
  group: fc.constantFrom('', 'gang'),
  isBad: fc.integer({ min: 0, max: 30 }).map((draw) => draw === 0),
});

const rollup = fc.record<RollupPlan>({
  rows: fc.array(row, { maxLength: 12 }),
  atNanos: fc.integer({ min: 0, max: 3 }),
  clusterId: fc.constantFrom('', 'blue', 'blue', 'green'),
  damageAt: fc.option(fc.nat(400), { nil: undefined, freq: 6 }),
});

function bytesOf({ rows, atNanos, clusterId, damageAt }: RollupPlan): Uint8Array {
  const bytes = encodeInit(ClusterCapacityNeedsSchema, {
    clusterId,
    timestampUnixNanos: BigInt(atNanos),
    needs: rows.map(({ cores, pool, group, isBad }) => ({
      requirements: [{ key: 'pool', operator: Operator.IN, values: [`p${pool}`] }],
      aggregateResources: { cpu: isBad ? 'many' : `${cores}` },
      priority: 7,
      group,
    })),
  });
  if (damageAt !== undefined && damageAt < bytes.length) bytes[damageAt] = 0xff;
  return bytes;
}

/** The library's answer; `malformed` for bytes that the wire package refuses. */
function fullDecoding(bytes: Uint8Array): unknown {
  let rollup: WireRollup;
  try {
    rollup = decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
  } catch {
    return 'malformed';
  }
  return decodeRollup(rollup, 'blue');
}

function byRows(rows: RollupRows, bytes: Uint8Array): unknown {
  const read = rows.read('blue', bytes);
  return !read.ok && read.error.field === 'bytes' ? read.error.code : read;
}

test('row by row is the same as all at once', (context) => {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? 7_001);
  context.diagnostic(`seed ${seed}`);
  let reusedCount = 0;
  fc.assert(
    fc.property(fc.array(rollup, { maxLength: 8 }), (plans) => {
      const rows = new RollupRows();
      const profiles = new Map<string, Profile>();
      const sharing = new RollupRows(sharedParts((fingerprint) => profiles.get(fingerprint)));
      const seen = new Set<string>();
      for (const bytes of plans.map(bytesOf)) {
        const full = fullDecoding(bytes);
        const byRow = byRows(rows, bytes);
        assert.deepEqual(byRow, full);
        assert.deepEqual(byRows(sharing, bytes), full);
        for (const { profile } of needsOf(byRow)) profiles.set(profile.fingerprint, profile);
        if (seen.has(Buffer.from(bytes).toString('latin1'))) reusedCount += 1;
        seen.add(Buffer.from(bytes).toString('latin1'));
      }
    }),
    { numRuns: 2_000, seed },
  );
  assert.ok(reusedCount > 10, `only ${reusedCount} roll-ups came again`);
});

function needsOf(outcome: unknown): readonly Need[] {
  if (typeof outcome !== 'object' || outcome === null || !('value' in outcome)) return [];
  return outcome.value as readonly Need[];
}

/** Encoded fields of a message, each drawn from what a need has, from what it has not, and from noise. */
const varint = fc
  .array(fc.nat(127), { minLength: 1, maxLength: 11 })
  .map((digits) => digits.map((digit, at) => (at < digits.length - 1 ? digit | 0x80 : digit)));
const number = fc.oneof(
  fc.constantFrom([0x00], [0x01], [0x05], [0x1b], [0x80, 0x00]),
  // −1 and the smallest int32, as int32 is written.
  fc.constantFrom([...Array<number>(9).fill(0xff), 0x01], [0x80, 0x80, 0x80, 0x80, 0x78, 0x01]),
  varint,
);
const text = fc.oneof(
  fc.constantFrom(
    '',
    'cpu',
    'pool',
    '4',
    '250m',
    '__proto__',
    'constructor',
    '7',
    'ä',
    '\uFEFFbom',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const textBytes = fc.oneof(
  { weight: 20, arbitrary: text.map((value) => [...Buffer.from(value)]) },
  { weight: 1, arbitrary: fc.array(fc.nat(255), { maxLength: 4 }) },
);

function delimited(tag: number, value: readonly number[]): number[] {
  const length = value.length < 128 ? [value.length] : [value.length | 0x80, value.length >> 7];
  return [tag, ...length, ...value].map((byte) => byte & 0xff);
}

function fieldsOf(...fields: fc.Arbitrary<number[]>[]): fc.Arbitrary<number[]> {
  const noise = fc.tuple(fc.nat(255), number).map(([tag, value]) => [tag, ...value]);
  const one = fc.oneof(
    { weight: 30, arbitrary: fc.oneof(...fields) },
    { weight: 1, arbitrary: noise },
  );
  return fc.array(one, { maxLength: 4 }).map((parts) => parts.flat());
}

const ofText = (tag: number): fc.Arbitrary<number[]> => textBytes.map((v) => delimited(tag, v));
const ofNumber = (tag: number): fc.Arbitrary<number[]> => number.map((value) => [tag, ...value]);
const ofMessage = (tag: number, body: fc.Arbitrary<number[]>): fc.Arbitrary<number[]> =>
  body.map((value) => delimited(tag, value.slice(0, 8_000)));

const entry = fieldsOf(ofText(0x0a), ofText(0x12));
const anyNeed = fieldsOf(
  ofMessage(0x0a, fieldsOf(ofText(0x0a), ofNumber(0x10), ofText(0x1a))),
  ofMessage(0x12, entry),
  ofNumber(0x18),
  ofMessage(0x2a, fieldsOf(ofText(0x0a), ofNumber(0x10), ofNumber(0x18))),
  ofNumber(0x30),
  ofNumber(0x38),
  ofMessage(0x42, entry),
  ofText(0x4a),
);
const anyRollup = fc
  .tuple(fieldsOf(ofText(0x0a), ofMessage(0x1a, anyNeed)), fc.option(number, { nil: undefined }))
  .map(([fields, time]) =>
    Uint8Array.from(time === undefined ? fields : [0x10, ...time, ...fields]),
  );
const edits = fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 2 });

test('a row of any fields is read as the library reads it, or refused as it refuses it', (context) => {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? 7_003);
  const numRuns = Number(process.env['BIGFLEET_RUNS'] ?? 20_000);
  context.diagnostic(`seed ${seed}`);
  const seen = { malformed: 0, refused: 0, read: 0 };
  fc.assert(
    fc.property(anyRollup, edits, (drawn, changes) => {
      const bytes = drawn.slice();
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      const full = fullDecoding(bytes);
      const read = byRows(new RollupRows(), bytes);
      // Two timestamps: the library takes the last one, and no encoder writes them.
      if (read === 'malformed' && timestampCount(bytes) > 1) return;
      assert.deepEqual(read, full);
      if (full === 'malformed') seen.malformed += 1;
      else if ((full as { ok: boolean }).ok) seen.read += 1;
      else seen.refused += 1;
    }),
    { numRuns, seed },
  );
  const counts = Object.values(seen);
  assert.ok(Math.min(...counts) > numRuns / 100, JSON.stringify(seen));
});

function timestampCount(bytes: Uint8Array): number {
  const reader = FieldReader.of(bytes);
  let count = 0;
  while (reader.next()) if (reader.field === 2 && reader.isVarint) count += 1;
  return count;
}

test('rows of two clusters share profile and vectors, and a row that stays is the row that it was', () => {
  const profiles = new Map<string, Profile>();
  const rows = new RollupRows(sharedParts((fingerprint) => profiles.get(fingerprint)));
  const plan = { atNanos: 1, clusterId: '', damageAt: undefined };
  const two = [1, 2].map((cores) => ({ cores, pool: 0, group: '', isBad: false }));
  const [blue] = needsOf(rows.read('blue', bytesOf({ ...plan, rows: two })));
  assert.ok(blue !== undefined);
  profiles.set(blue.profile.fingerprint, blue.profile);
  const [green] = needsOf(rows.read('green', bytesOf({ ...plan, rows: two })));
  assert.equal(green?.profile, blue.profile);
  assert.equal(green?.aggregate, blue.aggregate);
  const [, again] = needsOf(rows.read('blue', bytesOf({ ...plan, rows: two.toReversed() })));
  assert.equal(again, blue, 'found where it stands now');
});

test('a bad row among known ones is named by its own number', () => {
  const rows = new RollupRows();
  const good = (cores: number): RowPlan => ({ cores, pool: 0, group: '', isBad: false });
  const bad = { ...good(9), isBad: true };
  const plan = { atNanos: 1, clusterId: 'blue', damageAt: undefined };
  assert.ok(rows.read('blue', bytesOf({ ...plan, rows: [good(1), good(2), good(3)] })).ok);
  const refused = rows.read('blue', bytesOf({ ...plan, rows: [good(1), good(2), bad, good(3)] }));
  assert.equal(refused.ok ? -1 : refused.error.row, 2);
});

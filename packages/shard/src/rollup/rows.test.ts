// Proves that decoding by rows answers exactly what a full decoding answers, for any sequence of
// roll-ups: changed, reordered, doubled and dropped rows, new times, bad rows, damaged bytes; and
// that equal parts of needs are one object.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRollup, type Need, type Profile } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, decode, encodeInit, Operator } from '@bigfleet/wire';
import fc from 'fast-check';
import { RollupRows } from './rows.ts';
import { sharedParts } from './shared-parts.ts';

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

function outcomeOf(decodeBytes: () => unknown): unknown {
  try {
    return decodeBytes();
  } catch (error) {
    return `malformed: ${error instanceof Error ? error.name : ''}`;
  }
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
        const full = outcomeOf(() =>
          decodeRollup(decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT'), 'blue'),
        );
        const byRow = outcomeOf(() => rows.decode('blue', bytes));
        assert.deepEqual(byRow, full);
        const shared = outcomeOf(() => sharing.decode('blue', bytes));
        assert.deepEqual(shared, full);
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

test('rows of two clusters share profile and vectors, and a row that stays is the row that it was', () => {
  const profiles = new Map<string, Profile>();
  const rows = new RollupRows(sharedParts((fingerprint) => profiles.get(fingerprint)));
  const plan = { atNanos: 1, clusterId: '', damageAt: undefined };
  const two = [1, 2].map((cores) => ({ cores, pool: 0, group: '', isBad: false }));
  const [blue] = needsOf(rows.decode('blue', bytesOf({ ...plan, rows: two })));
  assert.ok(blue !== undefined);
  profiles.set(blue.profile.fingerprint, blue.profile);
  const [green] = needsOf(rows.decode('green', bytesOf({ ...plan, rows: two })));
  assert.equal(green?.profile, blue.profile);
  assert.equal(green?.aggregate, blue.aggregate);
  const [, again] = needsOf(rows.decode('blue', bytesOf({ ...plan, rows: two.toReversed() })));
  assert.equal(again, blue, 'found where it stands now');
});

test('a bad row among known ones is named by its own number', () => {
  const rows = new RollupRows();
  const good = (cores: number): RowPlan => ({ cores, pool: 0, group: '', isBad: false });
  const bad = { ...good(9), isBad: true };
  const plan = { atNanos: 1, clusterId: 'blue', damageAt: undefined };
  assert.ok(rows.decode('blue', bytesOf({ ...plan, rows: [good(1), good(2), good(3)] })).ok);
  const refused = rows.decode('blue', bytesOf({ ...plan, rows: [good(1), good(2), bad, good(3)] }));
  assert.equal(refused.ok ? -1 : refused.error.row, 2);
});

// Proves the laws of demand rows: aggregation, the total demand order, and keys that keep apart
// what is apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cores, need, resources } from '../testing/build.ts';
import {
  aggregateNeeds,
  compareAcquisition,
  compareDemand,
  earliest,
  type Need,
  needKey,
} from './need.ts';
import { resourcesKey } from './resources.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);
const runs = { seed, numRuns: 500 };

const row: fc.Arbitrary<Need> = fc
  .record({
    cluster: fc.constantFrom('a', 'b'),
    priority: fc.constantFrom(-(2 ** 31), 0, 5, 2 ** 31 - 1),
    interruption: fc.constantFrom(0, 1, Number.POSITIVE_INFINITY),
    group: fc.constantFrom('', 'g', 'h\0'),
    arrival: fc.constantFrom(0n, 1n, 2n, 1_800_000_000_000_000_001n, 1_800_000_000_000_000_002n),
    cpu: fc.nat(3),
    memory: fc.nat(3),
  })
  .map(({ cpu, memory, ...init }) =>
    need({ ...init, wants: resources({ cpu, memory }), unit: resources({ cpu: memory }) }),
  );
const rows = fc.array(row, { maxLength: 12 });

/** Everything that a row says, in one text. */
function textOf(entry: Need): string {
  const { aggregate, minUnit, arrivalUnixNanos } = entry;
  return [needKey(entry), resourcesKey(aggregate), resourcesKey(minUnit), arrivalUnixNanos].join(
    ' ',
  );
}

test('rows of one key merge: sums, largest unit, earliest stamped arrival', () => {
  const merged = aggregateNeeds([
    need({ wants: resources({ cpu: 2 }), unit: resources({ cpu: 2 }), arrival: 9n }),
    need({ wants: resources({ cpu: 3, gpu: 1 }), unit: resources({ gpu: 1 }), arrival: 0n }),
    need({ wants: resources({ cpu: 1 }), unit: resources({ cpu: 1 }), arrival: 4n }),
  ]);
  assert.equal(merged.length, 1);
  const [only] = merged;
  assert.deepEqual(only?.aggregate, resources({ cpu: 6, gpu: 1 }));
  assert.deepEqual(only?.minUnit, resources({ cpu: 2, gpu: 1 }));
  assert.equal(only?.arrivalUnixNanos, 4n);
});

test('cluster, profile and group each keep rows apart', () => {
  const apart = [
    need({ wants: cores(1) }),
    need({ wants: cores(1), cluster: 'b' }),
    need({ wants: cores(1), priority: 1 }),
    need({ wants: cores(1), group: 'g' }),
    need({ wants: cores(1), group: 'h' }),
  ];
  assert.deepEqual(aggregateNeeds(apart), apart);
});

test('a key cannot be forged by NUL in a topology key and a group', () => {
  const spread = { topologyKey: '\0abc', maxSkew: 1, whenUnsatisfiable: 1 };
  const a = need({ wants: cores(1), spread: [spread] });
  const b = need({ wants: cores(1), group: 'abc:1:1\0' });
  assert.notEqual(a.profile.fingerprint, b.profile.fingerprint);
  assert.notEqual(needKey(a), needKey(b));
  assert.equal(aggregateNeeds([a, b]).length, 2);
});

test('a key starts with its cluster and NUL: ledgers find the cluster again', () => {
  const key = needKey(need({ wants: cores(1), cluster: 'c-1', group: 'g\0g' }));
  assert.equal(key.slice(0, key.indexOf('\0')), 'c-1');
});

test(`aggregation does not depend on order and is idempotent (seed ${seed})`, () => {
  fc.assert(
    fc.property(rows, (list) => {
      const once = aggregateNeeds(list).map(textOf).sort();
      assert.deepEqual(
        aggregateNeeds([...list].reverse())
          .map(textOf)
          .sort(),
        once,
      );
      assert.deepEqual(aggregateNeeds(aggregateNeeds(list)).map(textOf).sort(), once);
      assert.equal(new Set(aggregateNeeds(list).map(needKey)).size, once.length);
    }),
    runs,
  );
});

test('the earliest arrival ignores the unstamped', () => {
  for (const [a, b, expected] of [
    [0n, 0n, 0n],
    [0n, 5n, 5n],
    [5n, 0n, 5n],
    [5n, 4n, 4n],
    [4n, 5n, 4n],
  ] as const) {
    assert.equal(earliest(a, b), expected);
  }
});

test('demand order: priority desc, arrival asc, cluster, fingerprint, group', () => {
  const ordered = [
    need({ wants: cores(1), priority: 9, arrival: 9n, cluster: 'z' }),
    need({ wants: cores(1), priority: 1, arrival: 1n, cluster: 'z' }),
    need({ wants: cores(1), priority: 1, arrival: 2n, cluster: 'a' }),
    need({ wants: cores(1), priority: 1, arrival: 2n, cluster: 'b', interruption: 0 }),
    need({ wants: cores(1), priority: 1, arrival: 2n, cluster: 'b', interruption: 1 }),
    need({ wants: cores(1), priority: 1, arrival: 2n, cluster: 'b', interruption: 1, group: 'a' }),
    need({ wants: cores(1), priority: 1, arrival: 2n, cluster: 'b', interruption: 1, group: 'b' }),
    need({ wants: cores(1), priority: 1, arrival: 1_800_000_000_000_000_001n, cluster: 'b' }),
    need({ wants: cores(1), priority: 1, arrival: 1_800_000_000_000_000_002n, cluster: 'a' }),
    need({ wants: cores(1), priority: -(2 ** 31), arrival: 1n, cluster: 'a' }),
  ];
  for (const [i, a] of ordered.entries()) {
    for (const [j, b] of ordered.entries()) {
      assert.equal(Math.sign(compareDemand(a, b)), Math.sign(i - j), `${i} ${j}`);
    }
  }
});

test(`demand order is total: equal only for one key and arrival (seed ${seed})`, () => {
  fc.assert(
    fc.property(row, row, row, (a, b, c) => {
      const order = compareDemand(a, b);
      assert.equal(Math.sign(compareDemand(b, a)) + Math.sign(order), 0);
      const isSame = needKey(a) === needKey(b) && a.arrivalUnixNanos === b.arrivalUnixNanos;
      assert.equal(order === 0, isSame);
      if (order < 0 && compareDemand(b, c) < 0) assert.ok(compareDemand(a, c) < 0);
    }),
    runs,
  );
});

test('acquisition runs by precedence and knows no age', () => {
  const old = need({ wants: cores(1), arrival: 1n });
  const young = need({ wants: cores(1), arrival: 9n });
  const costly = need({ wants: cores(1), arrival: 9n, reclamation: 8 });
  const urgent = need({ wants: cores(1), arrival: 9n, priority: 1 });
  assert.equal(compareAcquisition(old, young), 0);
  assert.deepEqual([old, costly, urgent].sort(compareAcquisition), [urgent, costly, old]);
});

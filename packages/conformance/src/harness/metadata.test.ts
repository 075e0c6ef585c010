// Proves that maps are compared by every key and value and in both directions, that a finding shows
// invisible characters, and that keys of Object.prototype are ordinary keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ensureMetadata, ensureUnbound, mapDifference } from './metadata.ts';
import { machineView } from './testing/scripted.ts';

const map = (...entries: readonly (readonly [string, string])[]): ReadonlyMap<string, string> =>
  new Map(entries);

test('differences in words', () => {
  const cases = [
    [map(), map(), undefined],
    [map(['a', '1']), map(['a', '1']), undefined],
    [map(['a', '1']), map(), 'key "a" is missing'],
    [map(), map(['a', '1']), 'key "a" was never stored'],
    [map(['a', '1']), map(['a', '2']), 'key "a" has "2" instead of "1"'],
    [map(['a', 'x\u0000']), map(['a', 'x']), 'key "a" has "x" instead of "x\\u{0}"'],
    [
      map(['k', 'caf\u00e9']),
      map(['k', 'cafe\u0301']),
      /has "cafe\\u\{301\}" instead of "caf\\u\{e9\}"/,
    ],
    [map(['__proto__', 'x']), map(), 'key "__proto__" is missing'],
    [map(['constructor', 'x']), map(['constructor', 'x']), undefined],
    [map(['k', 'y'.repeat(99)]), map(), 'key "k" is missing'],
    [map(['k', '']), map(['k', '🚀']), 'key "k" has "\\u{1f680}" instead of ""'],
  ] as const;
  for (const [expected, actual, difference] of cases) {
    const found = mapDifference(expected, actual);
    if (difference instanceof RegExp) assert.match(found ?? '', difference);
    else assert.equal(found, difference);
  }
});

test('no difference exactly when the maps have the same entries', () => {
  const entries = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', '__proto__'), fc.string({ maxLength: 2 })),
  );
  fc.assert(
    fc.property(entries, entries, (left, right) => {
      const same = (a: Map<string, string>): string =>
        JSON.stringify([...a].sort(([left], [right]) => (left < right ? -1 : 1)));
      const equal = same(new Map(left)) === same(new Map(right));
      assert.equal(mapDifference(new Map(left), new Map(right)) === undefined, equal);
    }),
    { numRuns: 300 },
  );
});

test('findings name the machine and where it was read', () => {
  assert.throws(
    () => ensureMetadata(machineView(), map(['a', '1']), 'Get'),
    /Get on m-1: shard_metadata is not what Configure stored: key "a" is missing/,
  );
  assert.throws(
    () => ensureUnbound(machineView({ metadata: map(['left', '1']) }), 'after Drain'),
    /after Drain on m-1: expected no shard_metadata, has 1 entries, the first "left"/,
  );
  assert.throws(
    () => ensureUnbound(machineView({ cluster: 'c' }), 'after Drain'),
    /expected no cluster, is "c"/,
  );
});

// Proves that a version lasts exactly as long as every count that was read stays what it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FleetSupply, type SupplyCount, SupplyWatch } from './supply.ts';

type Counts = Readonly<Record<string, SupplyCount>>;

const NONE: SupplyCount = { idleCount: 0, speculativeCount: 0, cheapestIdlePrice: 0 };

/** Keys are an instance type or `all`; `type!` is the stable part of it. */
function supply(counts: Counts): FleetSupply {
  return {
    count: (instanceType, stableOnly) =>
      counts[`${instanceType ?? 'all'}${stableOnly ? '!' : ''}`] ?? NONE,
  };
}

const big: SupplyCount = { idleCount: 3, speculativeCount: 1, cheapestIdlePrice: 2 };
const before: Counts = { all: big, big, 'big!': big, small: big };

const cases: readonly [string, Counts, boolean][] = [
  ['the same counts in other objects', { ...before, big: { ...big } }, true],
  ['what nobody asked for', { ...before, small: NONE, all: NONE }, true],
  ['fewer idle ones', { ...before, big: { ...big, idleCount: 2 } }, false],
  ['fewer speculative ones', { ...before, big: { ...big, speculativeCount: 0 } }, false],
  ['another price', { ...before, big: { ...big, cheapestIdlePrice: 3 } }, false],
  ['of the stable ones', { ...before, 'big!': NONE }, false],
];

for (const [name, after, isSame] of cases) {
  test(`${isSame ? 'same' : 'another'} version: ${name}`, () => {
    const watch = new SupplyWatch();
    watch.follow(supply(before));
    assert.equal(watch.count('big', false), big);
    assert.equal(watch.count('big', true), big);
    const { version } = watch;
    watch.follow(supply(before));
    assert.equal(watch.version, version);
    watch.follow(supply(after));
    assert.equal(watch.version === version, isSame);
  });
}

test('what was read in any publication of a version counts, what was read before it does not', () => {
  const watch = new SupplyWatch();
  watch.follow(supply(before));
  watch.count('big', false);
  watch.follow(supply(before));
  watch.count('small', false);
  const { version } = watch;
  watch.follow(supply({ ...before, small: NONE }));
  assert.equal(watch.version, version + 1);
  watch.follow(supply({ ...before, small: NONE, big: NONE }));
  assert.equal(watch.version, version + 1, 'nothing was read yet');
});

test('more types than it writes down begin a new version, and no wrong one', () => {
  const watch = new SupplyWatch();
  watch.follow(supply(before));
  for (let at = 0; at <= 10_000; at++) watch.count(`type-${at}`, false);
  const { version } = watch;
  watch.follow(supply(before));
  assert.equal(watch.version, version + 1);
});
